"""Counts that a formula was interpolated over in; out far larger ones, at which a proof is to hold it, too.

The first layers may be alike and the eighth of another kind: what fits a few of them says nothing of that.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

from forwardbook.formula import Condition

FAR: Final = (8, 14)  # so many further: kinds of layers that come round every six or eight have come round
NEAR: Final = (1, 3)
TOGETHER: Final = 2  # tries with all of them: what refuses the first may be the other sizes that were drawn
DRAWS: Final = 20  # of counts together, for such as conditions between them allow
ALONE: Final = 4  # at most so many are tried one by one


class Farther:
    """What is still to be tried: all counts far larger; if refused, each by itself, then nearer ones.

    They are such as the conditions on one count alone allow: every fourth, say.
    """

    def __init__(
        self, counts: Mapping[str, int], rng: random.Random, conditions: Sequence[Condition] = ()
    ) -> None:
        self._counts = dict(counts)
        self._rng = rng
        self.names: Final = frozenset(counts)
        self._alone = {name: [c for c in conditions if c.symbols() == {name}] for name in counts}
        self._between = [c for c in conditions if len(c.symbols()) > 1 and c.symbols() <= self.names]
        names = sorted(counts)
        alone = [[name] for name in names[:ALONE]] if len(names) > 1 else []
        self._open = [(names, FAR)] * TOGETHER + [(one, FAR) for one in alone] + [(names, NEAR)]
        self._met: set[str] = set()

    @property
    def open(self) -> bool:
        """Whether a count that was not met yet is still to be tried."""
        return any(name not in self._met for names, _ in self._open for name in names)

    def asked(self) -> dict[str, int]:
        """The counts of the next point that are to be so; none when each was met, or all was tried."""
        while self.open:
            names, further = self._open.pop(0)
            left = [name for name in names if name not in self._met]
            if left:
                ways = [{name: self._further(name, *further) for name in left} for _ in range(DRAWS)]
                return next((one for one in ways if self._fit(one)), ways[0])
        return {}

    def _fit(self, counts: Mapping[str, int]) -> bool:
        """Whether the conditions between counts hold: as many maps as layers, say."""
        return all(c.is_met(counts) for c in self._between if c.symbols() <= counts.keys())

    def _further(self, name: str, least: int, most: int) -> int:
        """A count so much larger, at least and at most; one that is allowed, if any is."""
        values = range(self._counts[name] + least, self._counts[name] + most + 1)
        allowed = [value for value in values if all(c.is_met({name: value}) for c in self._alone[name])]
        return self._rng.choice(allowed or values)

    def met(self, sizes: Mapping[str, int]) -> None:
        """The sizes at which a module ran."""
        self._met |= {name for name, count in self._counts.items() if is_far(sizes[name], count)}


def is_far(value: int, count: int) -> bool:
    """Whether a value is as much larger than a count as it is to be."""
    return value >= count + FAR[0]
