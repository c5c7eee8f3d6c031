"""Formulas that hold from so many layers on in; out the least number of each from which they do.

Counts to interpolate over begin where a formula came out, not where it begins to hold: made of six to nine
layers it may be right for three. Each count is lowered by one until a run says otherwise.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.other_peaks import at_other_peaks
from forwardbook.profiling.proof import measure, met_in, widths_of
from forwardbook.profiling.sizes import draw

LOWER: Final = 8  # at most so many steps down: the counts lie at most so far above those of the run
TRIES: Final = 2  # draws of sizes, where the module refuses the first

Counts = Mapping[str, int]


@dataclass(frozen=True)
class Lowering:
    """One recipe in one dtype, the sizes of its run, and what is to hold whatever is drawn."""

    recipe: Recipe
    dtype: torch.dtype
    numbers: Counts
    held: Sequence[Condition]
    rng: random.Random

    def least(self, patterns: Mapping[int, Pattern], starts: Counts) -> dict[int, dict[str, int]]:
        """For each pattern the least counts at which it holds, each lowered from `starts` by itself."""
        found = {i: dict(starts) for i in patterns}
        for name, start in starts.items():
            left = dict(patterns)
            for value in range(start - 1, max(0, start - 1 - LOWER), -1):
                left = {i: left[i] for i in self._holding(left, found, name, value)}
                for i in left:
                    found[i][name] = value
        return found

    def _holding(
        self, patterns: Mapping[int, Pattern], counts: Mapping[int, Counts], name: str, value: int
    ) -> list[int]:
        """The patterns that give every number of a run with so many of one, and enough of the others."""
        if not patterns:
            return []
        others = {n: max(counts[i][n] for i in patterns) for n in next(iter(counts.values())) if n != name}
        stated = [Condition.parse(text) for text in self.recipe.conditions]
        asked = {c.text(): c for p in patterns.values() for c in (*p.conditions, *p.around)}
        # a size of 1 hides much
        above = {
            n: max(2, others.get(n, 2)) for n, number in self.numbers.items() if number > 1 and n != name
        }
        wanted = [*stated, *self.held, *asked.values(), *(Condition.at_least(n, v) for n, v in above.items())]
        wanted = [c for c in wanted if c.symbols() <= self.numbers.keys()]
        for _ in range(TRIES):
            sizes = draw(self.numbers, wanted, self.rng, {name: value})
            if sizes is None:
                break
            holding = self._right(patterns, sizes)
            if holding is None:
                continue
            left = {i: patterns[i] for i in holding}
            fixed = {name: value}
            other = at_other_peaks(
                left.values(), self.dtype, sizes, self.numbers, wanted, self.rng, fixed, others
            )
            again = self._right(left, other) if other is not None else None
            return holding if again is None else again
        return []

    def _right(self, patterns: Mapping[int, Pattern], sizes: Counts) -> list[int] | None:
        """The patterns that give every number of a run; None where the module refuses the sizes."""
        widths = widths_of(self.dtype)
        try:
            trace = measure(self.recipe, sizes, self.dtype, widths)
        except Exception:  # noqa: BLE001 - whatever the module says of them; others may do
            return None
        points = {i: met_in(trace, pattern, {**sizes, **widths}) for i, pattern in patterns.items()}
        return [i for i, point in points.items() if point is not None and not point.differences]
