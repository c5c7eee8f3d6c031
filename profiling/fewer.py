"""Counts that a formula was interpolated over in; out smaller ones, at which a proof is to hold it, too.

A state of memory that takes three layers to come about is not there with two: what fits three, four and five
layers says too much of two.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

ALONE: Final = 3  # at most so many are tried one by one
LAYERS: Final = 16  # counts of layers in runs are as small; what is larger is rather a length
TWO: Final = 2  # layers: a first and a last, and none between
ONE: Final = 1  # the first is the last


class Fewer:
    """What is still to be tried: all counts smaller, then each alone: one may hide what another does.

    One layer of each comes last.
    """

    def __init__(self, counts: Mapping[str, int], rng: random.Random) -> None:
        self._counts = {name: value for name, value in counts.items() if value > 1}
        self._rng = rng
        self.names: Final = frozenset(counts)
        names = sorted(self._counts)
        alone = [[name] for name in names[:ALONE]] if len(names) > 1 else []
        self._open = [(one, TWO) for one in (names, *alone) if one]
        least = [name for name in names if TWO < self._counts[name] <= LAYERS]
        self._open += [(least, ONE)] if least else []

    def __len__(self) -> int:
        return len(self._open)

    def asked(self) -> dict[str, int]:
        """The counts of the next point that are to be so; none when all was tried."""
        names, layers = self._open.pop(0) if self._open else ([], TWO)
        return {name: self._below(self._counts[name], layers) for name in names}

    def _below(self, count: int, layers: int) -> int:
        """So many layers, or one less than there are; of what is no number of layers at least half."""
        if count <= LAYERS:
            return min(layers, count - 1)
        return self._rng.randint(-(-count // 2), count - 1)
