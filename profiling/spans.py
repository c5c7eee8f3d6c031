"""Sizes of a proof in; out at which of its points they are to be far smaller, and at which far larger.

Points that all lie about the sizes of one run tell little of others: a rounding that hides a difference
there, or a number that stays the same over an octave, is seen some octaves away.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from fractions import Fraction
from typing import Final

FAR: Final = (Fraction(1, 8), Fraction(16))
"""With both a size spans four octaves or more; each stands for the point after the first, and the next."""


class Spans:
    """By what each size is scaled at the next point; where that fails half of them, then none."""

    def __init__(self, names: Collection[str], rng: random.Random) -> None:
        self._rng = rng
        self.points: Final = 1 if names else 0
        """So many more than else: where sizes are small a formula is told little."""
        self._left = [sorted(names) for _ in FAR]
        self._halved = [False for _ in FAR]
        self._asked: int | None = None

    def asked(self, met: int) -> dict[str, Fraction]:
        """The factors for the point after so many; none for the first, and after the last of these."""
        place = met - 1
        self._asked = place if 0 <= place < len(FAR) and self._left[place] else None
        return dict.fromkeys(self._left[place], FAR[place]) if self._asked is not None else {}

    def refused(self) -> None:
        """No sizes were found, or the module did not run at what was asked last."""
        if (place := self._asked) is None:
            return
        names = self._left[place]
        self._left[place] = [] if self._halved[place] else self._rng.sample(names, len(names) // 2)
        self._halved[place] = True
