"""The peak of a stored regime and all states of a call in; out what measurement shows that it lacks."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

import torch

from forwardbook.analyzers.symbolic.assume import Assumed
from forwardbook.analyzers.symbolic.climbing import sampled
from forwardbook.analyzers.symbolic.overtaken import overtaking
from forwardbook.analyzers.symbolic.patterns import find_call
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.analyzers.symbolic.tied import Tied
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Condition, Expr, FormulaError
from forwardbook.pipeline.reprove.held import Told
from forwardbook.pipeline.reprove.joined import states_named, with_states
from forwardbook.pipeline.reprove.proved import point_at
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.pipeline.reprove.work import DTYPES, Call
from forwardbook.profiling.proof import measure, predict, widths_of
from forwardbook.profiling.sizes import draw
from forwardbook.schema import WIDTH_NAMES, ProofPoint

MOST: Final = 32  # states that may join a peak
PASSED: Final = 24  # states that are not met where they would be the largest, until others are not looked for
SAMPLES: Final = 120  # of those at which states compete
DRAWN: Final = 24  # sizes as a regime asks for them, beside these
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


class _Ground:
    """Where states are climbed for: the sizes that what holds there ties, and those to begin from."""

    def __init__(self, asked: Sequence[Condition], numbers: Sequence[str], starts: Sequence[Sizes]) -> None:
        self.tied = Tied(asked, numbers)
        self._naming: dict[str, list[Condition]] = defaultdict(list)
        for condition in map(self.tied.condition, asked):
            for name in condition.symbols():
                self._naming[name].append(condition)
        whole = filter(None, map(self.tied.whole, starts))
        self.starts = [point for point in whole if all(c.is_met(point) for c in asked)]

    def allows(self, point: Sizes, changed: str) -> bool:
        """Whether all that names the size that was changed still holds."""
        return all(c.is_met(point) for c in self._naming[changed])


class Search:
    """A search for what the peak of one regime lacks, in one number format.

    States that measurement shows at sizes at which they are the largest join the peak at once: other regimes
    of the same run may lack them as well, and a run there is as none of them says until all have joined. What
    joined stays if it is confirmed then.
    """

    def __init__(self, call: Call, seen: Seen, start: Sizes, dtype: torch.dtype, rng: random.Random) -> None:
        self.entry, one, self.way = call
        self.name = one.regime.name
        self.seen, self.start, self.dtype, self.rng = seen, start, dtype, rng
        self.widths = widths_of(dtype)
        self.joined: list[tuple[Expr, Sizes]] = []
        """States, and sizes at which each is the largest."""
        self.wrong: tuple[tuple[str, ...], Sizes] | None = None
        """How the peak as it was differs from a run, and the sizes of that, widths among them."""
        self.points: list[ProofPoint] = []
        names = start.keys()
        said = (*self.way.asked.stated, *one.conditions)
        self._conditions = [c for c in said if c.symbols() <= names]
        written = map(Assumed(self._conditions).of, seen.states)
        states = {state.subs(self.widths): state for state in written}
        self._states = {number: state for number, state in states.items() if number.symbols() <= names}
        self._around = [c for c in seen.around if c.symbols() <= names]
        self._numbers = sorted(seen.numbers & names)

    @property
    def one(self) -> StoredRegime:
        """The regime as it is by now."""
        return self.entry.named(self.name)

    def through(self) -> bool:
        """Join one state after another, until none is larger than the peak; whether what was met could be."""
        passed: set[Expr] = set()
        while len(passed) < PASSED:
            states = [state for state in self._states if state not in passed]
            hit = next(self._overtaking(states, self._named()), None)
            if hit is None:
                break
            state, sizes = hit
            passed.add(state)  # unless it joins it is not looked for again
            trace = self._run(sizes, self.dtype)
            told = self._told(trace, sizes, self.dtype)
            if trace is None or told is None or not told.unexplained or not self._differs(trace, sizes):
                continue  # the module refuses these sizes, or comes to no such state there
            largest = self._largest(sizes)
            is_joined = self._is_joined(largest, trace, sizes)
            if is_joined:
                self.joined.append((largest, sizes))
            elif not told.is_wrong:
                continue
            self.wrong = self.wrong or (told.unexplained, {**sizes, **self.widths})
            if not is_joined or len(self.joined) == MOST:
                return False
        return not self._exceeds()

    def _exceeds(self) -> bool:
        """Whether the peak names a state that the call has not, and is too large at some sizes for it."""
        for _, sizes in islice(self._overtaking(self._named(), list(self._states)), PASSED):
            trace = self._run(sizes, self.dtype)
            told = self._told(trace, sizes, self.dtype)
            if trace is not None and told is not None and told.is_wrong and self._differs(trace, sizes):
                self.wrong = self.wrong or (told.unexplained, {**sizes, **self.widths})
                return True
        return False

    def _named(self) -> list[Expr]:
        """The states that the peak names, in numbers of the widths and of what the run needed as such."""
        given = {**self.widths, **{name: self.start[name] for name in self._numbers}}
        return [state.subs(given) for state in states_named(self.one.regime)]

    def is_confirmed(self) -> bool:
        """Whether a peak with more states is right where these are the largest, and at other sizes.

        There also with each of the numbers of the run changed, and wherever it was proved.
        """
        one = self.one
        before = one.regime.points
        if not all(_agrees(one, point) for point in before):
            return False
        names = {name for point in before for name in point.sizes}
        where = [sizes for _, sizes in self.joined]
        self.points, right = [], 0
        for dtype in (each for each in DTYPES if one.holds_for(widths_of(each))):
            for sizes in self._checks(where):
                told = self._told(self._run(sizes, dtype), sizes, dtype)
                if told is None:
                    continue
                if told.is_wrong:
                    return False
                right += told.equal
                if told.equal and sizes in where[:SHOWN] and dtype is self.dtype and before:
                    self.points.append(point_at(one, {**sizes, **self.widths}, names))
        return right >= ENOUGH

    def _overtaking(self, states: Sequence[Expr], rivals: Sequence[Expr]) -> Iterator[tuple[Expr, Sizes]]:
        """States larger than rivals: where the run would be the same, then wherever the regime holds."""
        for ground in (self._same_run, self._regime_holds):
            free = {ground.tied.of(state): state for state in states}
            peak = list(map(ground.tied.of, rivals))
            found = overtaking(list(free), peak, ground.starts, self._numbers, ground.allows)
            for state, point in found:
                if (sizes := ground.tied.whole(point)) is not None:
                    yield free[state], sizes

    @cached_property
    def _same_run(self) -> _Ground:
        return _Ground([*self._conditions, *self._around], self._numbers, self._starts)

    @cached_property
    def _regime_holds(self) -> _Ground:
        return _Ground(self._conditions, self._numbers, self._starts)

    @cached_property
    def _starts(self) -> list[Sizes]:
        """Sizes from which states are climbed for; what became a number is as the run had it."""
        fixed = {name: self.start[name] for name in self._numbers}
        samples = [{**one, **fixed} for one in sampled(sorted(self.start), self.start)[:SAMPLES]]
        asked = [*self._conditions, *self._around]
        drawn = (draw(self.start, asked, self.rng, fixed, attempts=ATTEMPTS) for _ in range(DRAWN))
        return [dict(self.start), *(one for one in drawn if one is not None), *samples]

    def _largest(self, sizes: Sizes) -> Expr:
        """The state that is the largest there, widths as symbols."""
        return self._states[max(self._states, key=lambda state: predict(state, sizes) or 0)]

    def _is_joined(self, state: Expr, trace: Trace, sizes: Sizes) -> bool:
        """Whether the regime gives the numbers of the call with a state more; if so it has that from now on.

        No peak of too many states can be written, nor one of sizes of which its entry says nothing.
        """
        known = {one.name for one in self.entry.entry.parameters}.union(WIDTH_NAMES)
        before = self.one
        try:
            more = StoredRegime(with_states(before.regime, [state]), before.is_copy)
        except FormulaError:
            return False
        if not more.formulas["peak"].symbols() <= known:
            return False
        self.entry.becomes(more)
        if self._differs(trace, sizes):
            self.entry.becomes(before)
            return False
        return True

    def _differs(self, trace: Trace, sizes: Sizes) -> bool:
        """Whether the regime gives other numbers than the call has in a run that makes it."""
        call = find_call(trace, self.seen.path, self.seen.occurrence)
        values = {**sizes, **self.widths}
        return call is not None and bool(self.one.differences(summarise(trace, call, {}), values))

    def _run(self, sizes: Sizes, dtype: torch.dtype) -> Trace | None:
        try:
            return measure(self.way.recipe, sizes, dtype, widths_of(dtype))
        except Exception:  # noqa: BLE001 - the module's own refusal of these sizes
            return None

    def _told(self, trace: Trace | None, sizes: Sizes, dtype: torch.dtype) -> Told | None:
        """What a run tells of the regime; nothing where it does not hold, or data was guessed."""
        one, values = self.one, {**sizes, **widths_of(dtype)}
        if trace is None or one.guessed(trace.assumed) or not self.entry.holds(one, values):
            return None
        return self.entry.told(one, trace, self.way.recipe.calls_as, values)

    def _checks(self, where: Sequence[Sizes]) -> Iterator[Sizes]:
        """Where states are the largest, there with each number of the run changed, and draws."""
        for sizes in where:
            yield sizes
            for name in self._numbers:
                size = sizes[name]
                for other in sorted({size * 2, size + 1, size - 1} - {0, size}):
                    changed = {**sizes, name: other}
                    if all(c.is_met(changed) for c in self._conditions):
                        yield changed
        for _ in range(AGAIN):
            drawn = draw(self.start, self._conditions, self.rng, attempts=ATTEMPTS)
            if drawn is not None:
                yield drawn


def _agrees(one: StoredRegime, point: ProofPoint) -> bool:
    """Whether a peak gives what was measured at a point of its proof, if all it names is known there."""
    peak = one.formulas["peak"]
    known = peak.symbols() <= point.sizes.keys() and "peak" in point.measured
    return not known or predict(peak, point.sizes) == point.measured["peak"]
