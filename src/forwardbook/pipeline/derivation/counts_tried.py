"""Sizes that became numbers in; out the numbers of each that are worth interpolating over."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.symbolic.loops import POINTS, counted

ROUND: Final = 8  # layers whose kinds may come round: a run has three times as many, and takes as long


@dataclass(frozen=True)
class Counts:
    """The numbers that sizes take while formulas are interpolated over them."""

    tried: dict[str, range]
    nested: bool = False
    """Whether the loops of the two sizes are nested, so that their counts multiply."""
    rounds: bool = False
    """Whether they are apart by as many layers as the run had: all that its lists of kinds tell."""

    @property
    def starts(self) -> dict[str, int]:
        """The least of each."""
        return {name: values.start for name, values in self.tried.items()}

    @property
    def apart(self) -> bool:
        """Whether some are not one after another."""
        return any(values.step > 1 for values in self.tried.values())


Favoured = dict[tuple[str, ...], Counts]
"""By the sizes that were interpolated over: the counts that gave a formula which holds."""


def counts_of(
    names: Sequence[str], numbers: Mapping[str, int], lengths: Collection[str] = ()
) -> list[Counts]:
    """Counts worth trying.

    Small numbers; every second one (layers that alternate); from the hints on (lists of the configuration may
    be as long), and so many apart (kinds of layers come round then; `lengths` of inputs have no kinds); and
    counts well above a threshold among them (so many dense layers first).
    """
    small = {name: min(numbers[name], 2) for name in names}
    at_hint = {name: numbers[name] for name in names}
    later = {name: small[name] + 2 for name in names}  # few layers may have a peak of their own

    def from_on(starts: Mapping[str, int], step: int = 1) -> dict[str, range]:
        return {name: counted(start, step) for name, start in starts.items()}

    tried = [Counts(from_on(small)), Counts(from_on(small, 2)), Counts(from_on(at_hint))]
    rounds = {n: size if 2 < size <= ROUND and n not in lengths else 1 for n, size in at_hint.items()}
    if any(size > 1 for size in rounds.values()):
        tried.append(Counts({n: counted(at_hint[n], size) for n, size in rounds.items()}, rounds=True))
    tried += [Counts(from_on(well_above(names, numbers))), Counts(from_on(later, 2))]
    if len(names) == 2:
        tried += [Counts(from_on(starts), nested=True) for starts in (small, at_hint)]
    return [one for i, one in enumerate(tried) if one not in tried[:i]]


def well_above(names: Sequence[str], numbers: Mapping[str, int]) -> dict[str, int]:
    """The hints, the largest of them well above."""
    largest = max(names, key=lambda n: numbers[n])
    return {name: numbers[name] for name in names} | {largest: numbers[largest] + POINTS}
