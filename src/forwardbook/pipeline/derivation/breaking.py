"""Conditions of patterns of one run in; out runs at sizes that break them, and what patterns give there."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from forwardbook.formula import Condition, Expr
from forwardbook.formula.condition import negated
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.fruitless import Fruitless
from forwardbook.pipeline.derivation.of_callers import Outcome
from forwardbook.pipeline.derivation.ones import is_above_one
from forwardbook.pipeline.derivation.other_peaks import at_other_peaks
from forwardbook.pipeline.derivation.regimes import beyond
from forwardbook.profiling.proof import Point, measure, met_throughout, widths_of
from forwardbook.profiling.sizes import draw

ATTEMPTS: Final = 2  # draws of sizes that break a condition
REPAIRS: Final = 45  # conditions mended for one of them: what succeeds takes fewer


@dataclass(frozen=True)
class Bench:
    """What every test of one run needs."""

    derived: Sequence[Derived]
    essential: Sequence[Sequence[Condition]]
    held: Sequence[Condition]
    numbers: Mapping[str, int]
    rng: random.Random
    fruitless: Fruitless = field(default_factory=Fruitless)
    undrawn: set[str] = field(default_factory=set)
    """The tests for which no sizes were found: what lies beyond them no run told."""

    def wanted(
        self,
        side: Sequence[Condition],
        held: Sequence[Condition],
        below: Collection[str] | None,
        broken: Sequence[Condition | None],
    ) -> list[Condition]:
        """A side and what is held; with `below` also all that patterns ask, but for what is broken.

        A size of 1 hides much: all but those `below` are above 1 where the run had them so.
        """
        first, numbers = self.derived[0], self.numbers
        every = [*side, *(Condition.parse(c) for c in first.recipe.conditions), *self.held, *held]
        if below is not None:
            texts = {one.text() for one in broken if one is not None}
            others = {c.text(): c for conditions in self.essential for c in conditions}
            every += [c for text, c in others.items() if text not in texts]
            above = [n for n, value in numbers.items() if value > 1 and n not in below]
            every += [Condition(Expr.symbol(n), ">", Expr.const(1)) for n in above]
        return [c for c in every if c.symbols() <= set(numbers)]

    def points(self, sizes: Mapping[str, int]) -> list[Point | None] | None:
        """Every pattern held against a run at sizes; None where the module refuses them."""
        first = self.derived[0]
        widths = widths_of(first.dtype)
        try:
            trace = measure(first.recipe, sizes, first.dtype, widths)
        except Exception:  # noqa: BLE001 - the module refuses these sizes: its own condition
            return None
        return [met_throughout(trace, one.pattern, {**sizes, **widths}) for one in self.derived]

    def outcome(
        self, test: Condition, held: Sequence[Condition] = (), without: Condition | None = None
    ) -> Outcome | None:
        """Sizes that break the condition, and every pattern held against a run there; None if none ran.

        One condition is broken at a time, where that can be; `without` need not hold either way.
        """
        fixed = _fixed(test)
        known = test.symbols() | {name for c in held for name in c.symbols()}
        sides = dict.fromkeys((beyond(test), negated(test)))
        self.undrawn.add(test.text())
        for side in sides:
            if (alone := self._drawn(self.wanted([side], held, None, (test, without)), fixed)) is None:
                continue  # nothing breaks it, whatever else is to hold
            more = (self.wanted([side], held, below, (test, without)) for below in (frozenset(fixed), known))
            for sizes in chain((self._drawn(wanted, fixed) for wanted in more), [alone]):
                if sizes is None:
                    continue
                self.undrawn.discard(test.text())
                points = self.points(sizes)
                if points is not None:
                    return sizes, points
        return None

    def _drawn(self, wanted: Sequence[Condition], fixed: Mapping[str, int]) -> dict[str, int] | None:
        def find() -> dict[str, int] | None:
            return draw(self.numbers, wanted, self.rng, fixed, attempts=ATTEMPTS, repairs=REPAIRS)

        return self.fruitless.sought(self.numbers, wanted, find, fixed)

    def outcome_of_two(self, test: Condition) -> Outcome | None:
        """The same; where a size that is 1 changed nothing, of a second run, too, which has other peaks.

        A state that a single head has not is not missed where another is larger.
        """
        first = self.outcome(test)
        if first is None or not is_above_one(test):
            return first
        sizes, points = first
        pairs = zip(self.derived, points, strict=True)
        holding = [one.pattern for one, p in pairs if p is not None and not p.differences]
        about = [p for p in holding if test.symbols() <= p.summary.symbols()]
        wanted = self.wanted([], [], test.symbols(), (test,))
        dtype, fixed = self.derived[0].dtype, _fixed(test)
        counted = {name for one in self.derived for name in one.interpolated}
        rng = random.Random(test.text())
        other = at_other_peaks(
            about, dtype, sizes, self.numbers, wanted, rng, fixed, counted, self.fruitless
        )
        second = self.points(other) if other is not None else None
        if second is None:
            return first
        return sizes, [_worse(a, b) for a, b in zip(points, second, strict=True)]


def _fixed(test: Condition) -> dict[str, int]:
    """What breaks a test that a size is above 1."""
    return dict.fromkeys(test.symbols(), 1) if is_above_one(test) else {}


def _worse(first: Point | None, second: Point | None) -> Point | None:
    """The second of two points where that alone differs."""
    hidden = first is not None and not first.differences and second is not None and second.differences
    return second if hidden else first
