"""Sizes that became numbers in; out values far from their hints, at which a proof is to hold them, too.

`int(log2(factor))` is one number over a whole octave: what is proved within one may be wrong beyond.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Final

LEAST: Final = 5  # what is drawn about a smaller hint is mostly an octave away already
FAR: Final = (2, 4)  # a value is so many times its hint, or one so many-th of it


class Octaves:
    """What is still to be tried: all sizes far larger, all far smaller, each time only half if that fails."""

    def __init__(self, names: Iterable[str], hints: Mapping[str, int], rng: random.Random) -> None:
        wanted = sorted(name for name in set(names) if hints.get(name, 0) >= LEAST)
        self._rng = rng
        self._open = [
            {name: hints[name] * rng.randint(*FAR) for name in wanted},
            {name: hints[name] // rng.randint(*FAR) for name in wanted},
        ]
        self._asked: dict[str, int] = {}
        self._halved = False

    def asked(self) -> dict[str, int]:
        """The sizes of the next point that are to be so; none when all was tried."""
        self._asked = self._open[0] if self._open else {}
        return self._asked

    def answered(self, done: bool) -> None:
        """Whether a module ran at what was asked last."""
        if not self._asked:
            return
        if done or self._halved or len(self._asked) < 2:
            self._open.pop(0)
            self._halved = False
        else:
            kept = self._rng.sample(sorted(self._asked), len(self._asked) // 2)
            self._open[0] = {name: self._asked[name] for name in kept}
            self._halved = True
        self._asked = {}
