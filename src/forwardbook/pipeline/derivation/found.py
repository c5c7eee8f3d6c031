"""One regime of a class: a proved pattern, and the conditions that matter for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS
from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.profiling.proof import Point


@dataclass(frozen=True)
class Found:
    """One regime: a proved pattern, the conditions that matter, where it came from."""

    derived: Derived
    conditions: tuple[Condition, ...]
    label: str
    dtypes: tuple[torch.dtype, ...]
    also: tuple[Derived, ...] = ()
    beyond: bool = False

    @property
    def exact(self) -> bool:
        """Proved wherever it was measured."""
        return self.derived.exact and all(d.exact for d in self.also)

    def each(self, change: Callable[[Derived], Derived]) -> Found:
        """The regime with what it was proved from changed, in each number format."""
        return replace(self, derived=change(self.derived), also=tuple(map(change, self.also)))

    def symbols(self) -> frozenset[str]:
        """Every name in its formulas and in the conditions that matter."""
        return self.derived.pattern.summary.symbols().union(*(c.symbols() for c in self.conditions))

    def inside(self, one: Derived) -> list[Point]:
        """The points of one of its proofs at which its conditions hold; another dtype may have added some."""
        about = sized(self.conditions)
        return [
            point
            for point in one.proof.points
            if all(c.is_met(point.sizes) for c in about if c.symbols() <= point.sizes.keys())
        ]


def sized(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions about sizes: widths are what they are in a run."""
    return tuple(one for one in conditions if not one.symbols().intersection(SYMBOLIC_WIDTHS))
