"""The peak of a stored regime and all states of a call in; out what measurement shows that it lacks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import torch

from forwardbook.analyzers.symbolic.climbing import sampled
from forwardbook.analyzers.symbolic.overtaken import overtaking
from forwardbook.analyzers.symbolic.patterns import find_call
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Condition, Expr, FormulaError
from forwardbook.pipeline.reprove.held import Told
from forwardbook.pipeline.reprove.joined import states_named, with_states
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.pipeline.reprove.work import DTYPES, Call
from forwardbook.profiling.proof import measure, predict, widths_of
from forwardbook.profiling.sizes import draw
from forwardbook.schema import WIDTH_NAMES, ProofPoint

MOST: Final = 32  # states that may join a peak
PASSED: Final = 24  # states that are not met where they would be the largest, until others are not looked for
SAMPLES: Final = 120  # of those at which states compete
DRAWN: Final = 8  # sizes as a regime asks for them, beside these
ATTEMPTS: Final = 4  # to draw one
AGAIN: Final = 6  # draws at which a peak with more states is measured
SHOWN: Final = 4  # points where a state is the largest that its proof is given
ENOUGH: Final = 3  # points at which a peak with more states must give what is measured

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """All states of live storage of a call in a symbolic run, and what that run took for granted."""

    path: str
    occurrence: int
    """Which call it is of the module at its path, from 0."""
    states: tuple[Expr, ...]
    around: tuple[Condition, ...]
    """What was asked by the end of the call: under these it is the same run."""
    numbers: frozenset[str]
    """The sizes that something needed as plain numbers by then: the states may hang on these."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """What a run shows that a peak cannot be mended to give, and the sizes, widths among them."""

    told: Told
    values: Sizes


def searched(
    call: Call,
    seen: Seen,
    start: Sizes,
    dtype: torch.dtype,
    rng: random.Random,
    before: Wrong | None = None,
) -> Wrong | None:
    """Find what the peak of a regime lacks of the states of its call, and note it; what is wrong else.

    States that measurement shows at sizes at which they are the largest join the peak if what it is then
    gives every number there, at other values of what the run needed as numbers, and at draws. Where it does
    not the peak stays as it is; it may be that another regime, of another call there, has to be mended first.
    What was wrong `before` is looked at first.
    """
    search = _Search(call, seen, start, dtype, rng)
    if before is not None:
        search.starts.insert(0, {name: before.values[name] for name in start})
    return search.through()


class _Search:
    """A search for what one peak lacks, in one number format."""

    def __init__(self, call: Call, seen: Seen, start: Sizes, dtype: torch.dtype, rng: random.Random) -> None:
        self.entry, self.one, self.way = call
        self.seen, self.start, self.dtype, self.rng = seen, start, dtype, rng
        self.widths = widths_of(dtype)
        names = start.keys()
        self.states = {one.subs(self.widths): one for one in seen.states}
        self.states = {number: one for number, one in self.states.items() if number.symbols() <= names}
        said = (*self.way.asked.stated, *self.one.conditions)
        self.conditions = [c for c in said if c.symbols() <= names]
        self.around = [c for c in seen.around if c.symbols() <= names]
        self.numbers = sorted(seen.numbers & names)

    def through(self) -> Wrong | None:
        """Look for one state after another, until none is larger than the peak with those that were found."""
        joined, passed = self.one, set[Expr]()
        found: list[Expr] = []
        where: list[Sizes] = []
        first: Wrong | None = None
        while len(found) < MOST and len(passed) < PASSED:
            hit = next(self._overtaking(joined, passed), None)
            if hit is None:
                break
            state, sizes = hit
            passed.add(state)  # unless it joins it is not looked for again
            trace = self._run(sizes, self.dtype)
            told = self._told(joined, trace, sizes, self.dtype)
            if trace is None or told is None or not told.unexplained:
                continue  # the module refuses these sizes, or comes to no such state there
            if not self._differs(joined, trace, sizes):
                continue  # it is another call that is as no regime says
            wrong = Wrong(told, {**sizes, **self.widths})
            more = self._with([*found, self._largest(sizes)])
            if more is not None and not self._differs(more, trace, sizes):
                found.append(self._largest(sizes))
                where.append(sizes)
                joined, first = more, first or wrong
            elif told.is_wrong:
                return wrong
        points = self._confirmed(joined, where) if 0 < len(found) < MOST else None
        if points is None:
            return first
        met = self.entry.met[self.one.regime.name]
        met.states = (*met.states, *(state.text() for state in found))
        met.proved = (*met.proved, *points)
        self.entry.becomes(joined)
        return None

    def _differs(self, one: StoredRegime, trace: Trace, sizes: Sizes) -> bool:
        """Whether a regime gives other numbers than the call has in a run that makes it."""
        call = find_call(trace, self.seen.path, self.seen.occurrence)
        if call is None:
            return False
        return bool(one.differences(summarise(trace, call, {}), {**sizes, **self.widths}))

    def _overtaking(self, joined: StoredRegime, passed: set[Expr]) -> Iterator[tuple[Expr, Sizes]]:
        """States larger than a peak: where the run would be the same, then wherever the regime holds."""
        peak = [state.subs(self.widths) for state in states_named(joined.regime)]
        if not all(state.symbols() <= self.start.keys() for state in peak):
            return
        states = [state for state in self.states if state not in passed]
        for asked in ([*self.conditions, *self.around], self.conditions):
            naming: dict[str, list[Condition]] = {name: [] for name in self.start}
            for condition in asked:
                for name in condition.symbols():
                    naming[name].append(condition)

            def allowed(point: Sizes, changed: str, naming: Mapping[str, list[Condition]] = naming) -> bool:
                return all(c.is_met(point) for c in naming[changed])

            starts = [point for point in self.starts if all(c.is_met(point) for c in asked)]
            yield from overtaking(states, peak, starts, self.numbers, allowed)

    @cached_property
    def starts(self) -> list[Sizes]:
        """Sizes from which states are climbed for; what became a number is as the run had it."""
        fixed = {name: self.start[name] for name in self.numbers}
        samples = [{**one, **fixed} for one in sampled(sorted(self.start), self.start)[:SAMPLES]]
        asked = [*self.conditions, *self.around]
        drawn = (draw(self.start, asked, self.rng, fixed, attempts=ATTEMPTS) for _ in range(DRAWN))
        return [dict(self.start), *(one for one in drawn if one is not None), *samples]

    def _largest(self, sizes: Sizes) -> Expr:
        """The state that is the largest there, widths as symbols."""
        return self.states[max(self.states, key=lambda state: predict(state, sizes) or 0)]

    def _with(self, states: Sequence[Expr]) -> StoredRegime | None:
        """The regime with more states; none where no peak of so many is written, or it has no such sizes."""
        known = {one.name for one in self.entry.entry.parameters}.union(WIDTH_NAMES)
        try:
            changed = with_states(self.one.regime, states)
        except FormulaError:
            return None
        one = StoredRegime(changed, self.one.is_copy)
        return one if one.formulas["peak"].symbols() <= known else None

    def _run(self, sizes: Sizes, dtype: torch.dtype) -> Trace | None:
        try:
            return measure(self.way.recipe, sizes, dtype, widths_of(dtype))
        except Exception:  # noqa: BLE001 - the module's own refusal of these sizes
            return None

    def _told(self, one: StoredRegime, trace: Trace | None, sizes: Sizes, dtype: torch.dtype) -> Told | None:
        """What a run tells of a regime in this form; nothing where it does not hold, or guessed data."""
        values = {**sizes, **widths_of(dtype)}
        if trace is None or one.guessed(trace.assumed) or not self.entry.holds(one, values):
            return None
        now = self.entry.named(one.regime.name)
        self.entry.becomes(one)
        try:
            return self.entry.told(one, trace, self.way.recipe.calls_as, values)
        finally:
            self.entry.becomes(now)

    def _confirmed(self, joined: StoredRegime, where: Sequence[Sizes]) -> list[ProofPoint] | None:
        """Points where more states are the largest and a peak with these is right; None where it is wrong."""
        proof = joined.regime.proof
        before = proof.points if proof is not None else ()
        if not all(_agrees(joined, point) for point in before):
            return None
        names = {name for point in before for name in point.sizes}
        points: list[ProofPoint] = []
        right = 0
        for dtype in (one for one in DTYPES if joined.holds_for(widths_of(one))):
            for sizes in self._checks(where):
                told = self._told(joined, self._run(sizes, dtype), sizes, dtype)
                if told is None:
                    continue
                if told.is_wrong:
                    return None
                right += told.equal
                if told.equal and sizes in where[:SHOWN] and dtype is self.dtype and before:
                    points.append(_point(joined, {**sizes, **self.widths}, names))
        return points if right >= ENOUGH else None

    def _checks(self, where: Sequence[Sizes]) -> Iterator[Sizes]:
        """Where states are the largest, there with each number of the run changed, and draws."""
        yield from where
        for name in self.numbers:
            size = where[0][name]
            for other in sorted({size * 2, size + 1, size - 1} - {0, size}):
                changed = {**where[0], name: other}
                if all(c.is_met(changed) for c in self.conditions):
                    yield changed
        for _ in range(AGAIN):
            drawn = draw(self.start, self.conditions, self.rng, attempts=ATTEMPTS)
            if drawn is not None:
                yield drawn


def _agrees(one: StoredRegime, point: ProofPoint) -> bool:
    """Whether a peak gives what was measured at a point of its proof, if all it names is known there."""
    peak = one.formulas["peak"]
    known = peak.symbols() <= point.sizes.keys() and "peak" in point.measured
    return not known or predict(peak, point.sizes) == point.measured["peak"]


def _point(one: StoredRegime, values: Sizes, names: set[str]) -> ProofPoint:
    totals = {name: predict(formula, values) for name, formula in one.formulas.items()}
    given = {name: value for name, value in totals.items() if value is not None}
    kept = {name: value for name, value in values.items() if name in names}
    return ProofPoint(sizes=kept, predicted=given, measured=given)
