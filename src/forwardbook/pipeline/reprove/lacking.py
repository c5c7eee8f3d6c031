"""What a child process does to find what stored peaks lack: states of live storage that they do not name.

A state that is the largest at few sizes alone is met by no draw. A symbolic run has all of them: each is
compared with the peak, at sizes reached from those at which it comes near, and what is found is measured.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from forwardbook.analyzers.symbolic.patterns import calls_of
from forwardbook.analyzers.symbolic.peaks import PROVABLE
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_symbolically
from forwardbook.analyzers.symbolic.summary import states_of, summarise
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.reprove.held import said
from forwardbook.pipeline.reprove.overtaken_peak import Seen, Sizes, Wrong, searched
from forwardbook.pipeline.reprove.work import DTYPES, Call, Runs, worked
from forwardbook.profiling.proof import measure, widths_of


def work(request: Request) -> Response:
    """Each stored peak held against all states of live storage."""
    return worked(request, Lacking)


@dataclass(frozen=True, slots=True)
class _Held:
    """A regime, the states of a call that it is held against, and the run that has them."""

    call: Call
    seen: Seen
    sizes: Sizes
    dtype: torch.dtype
    wrong: Wrong | None = None


class Lacking(Runs):
    """Runs at sizes at which a state is the largest that a peak does not name."""

    def measured(self, same: Sequence[Call]) -> None:
        """What becomes of all regimes of one way: each is decided on once it was held against all runs.

        What other regimes of its calls lack makes a regime wrong that would be right with them mended.
        """
        met: dict[int, Sizes] = {}
        waiting = [one for dtype in DTYPES for one in self._held(dtype, same, met)]
        before = -1
        while waiting and len(waiting) != before:
            before = len(waiting)
            waiting = [again for one in waiting if (again := self._searched(one)) is not None]
        for one in waiting:
            entry, regime, _ = one.call
            if one.wrong is not None:
                entry.refute(regime, one.wrong.told.unexplained, one.wrong.values, one.wrong.told.equal)
        for place, values in met.items():
            entry, regime, _ = same[place]
            if not entry.met[regime.regime.name].differences:
                entry.confirm(regime, values)

    def _searched(self, one: _Held) -> _Held | None:
        """What is held once more, if it was wrong."""
        entry, before, way = one.call
        regime = entry.named(before.regime.name)  # it may have been joined by others
        if entry.met[before.regime.name].differences:
            return None
        wrong = searched((entry, regime, way), one.seen, one.sizes, one.dtype, self.rng, one.wrong)
        return replace(one, wrong=wrong) if wrong is not None else None

    def _held(self, dtype: torch.dtype, same: Sequence[Call], met: dict[int, Sizes]) -> Iterator[_Held]:
        """What is to be held against the states of one number format; regimes that gave a call are `met`."""
        widths = widths_of(dtype)
        starts: defaultdict[tuple[tuple[str, int], ...], list[int]] = defaultdict(list)
        for place, call in enumerate(same):
            if call[1].holds_for(widths) and (start := self._start(call, widths)) is not None:
                starts[tuple(sorted(start.items()))].append(place)
        for key, places in starts.items():
            sizes = dict(key)
            recipe = same[places[0]][2].recipe
            try:
                trace = measure(recipe, sizes, dtype, widths)
                run = run_symbolically(recipe, dtype, hints=sizes)
            except Exception as error:  # noqa: BLE001 - the module's own refusal of these sizes
                for entry, one, _ in (same[place] for place in places):
                    entry.note(one, said(error))
                continue
            for place in places:
                if self._is_met(same[place], run, trace, {**sizes, **widths}):
                    met.setdefault(place, {**sizes, **widths})
                    for seen in _seen(same[place], run, trace, {**sizes, **widths}):
                        yield _Held(same[place], seen, sizes, dtype)

    def _start(self, call: Call, widths: Sizes) -> dict[str, int] | None:
        """Sizes at which a regime holds: its model's own, else of its proof, else drawn."""
        entry, one, way = call
        proof = one.regime.proof
        points = (point.sizes for point in (proof.points if proof is not None else ()))
        known = ({n: size for n, size in sizes.items() if n in way.hints} for sizes in points)
        for sizes in ({}, *known):
            values = {**way.hints, **sizes}
            if way.asked.takes(values) and entry.holds(one, {**values, **widths}):
                return values
        return self.sizes_for(one, way, 0)

    def _is_met(self, call: Call, run: SymbolicRun, trace: Trace, values: Sizes) -> bool:
        """Whether a regime gives the numbers of a call there, which a run with symbols makes as well."""
        entry, one, way = call
        told = entry.told(one, trace, way.recipe.calls_as, values)
        if guessed := one.guessed(trace.assumed):
            entry.note(one, f"at such sizes the run had to guess {guessed[0]}")
        elif told.is_wrong or not told.equal:
            entry.judge(one, told, values)
        elif not _is_alike(run.trace, trace, way.recipe.calls_as):
            entry.note(one, "a run with symbols calls it otherwise")
        else:
            return True
        return False


def _is_alike(symbolic: Trace, measured: Trace, target: str) -> bool:
    """Whether both runs call a class in the same places, one after another."""
    return [c.path for c in calls_of(symbolic, target)] == [c.path for c in calls_of(measured, target)]


def _seen(call: Call, run: SymbolicRun, trace: Trace, values: Sizes) -> Iterator[Seen]:
    """The states of each call that a regime gives the numbers of, where too many to prove the largest."""
    _, one, way = call
    theirs = calls_of(run.trace, way.recipe.calls_as)
    elsewhere = one.is_copy and not any(one.speaks_of(c) for c in theirs)
    known: set[frozenset[Expr]] = set()
    before: Counter[str] = Counter()
    for symbolic, real in zip(theirs, calls_of(trace, way.recipe.calls_as), strict=True):
        occurrence = before[symbolic.path]
        before[symbolic.path] += 1
        if not (elsewhere or one.speaks_of(symbolic)):
            continue
        states = states_of(run.trace, symbolic)
        if len(states) <= PROVABLE or frozenset(states) in known:
            continue
        known.add(frozenset(states))
        if not one.differences(summarise(trace, real, {}), values):
            yield Seen(symbolic.path, occurrence, states, *_asked(run, symbolic))


def _asked(run: SymbolicRun, call: CallRecord) -> tuple[tuple[Condition, ...], frozenset[str]]:
    consumed = dict.fromkeys(c.node for c in run.ledger.consumed[: call.consumed[1]] if not c.real)
    numbers = frozenset[str]().union(*map(run.expressions.symbols, consumed))
    return tuple(run.expressions.conditions(run.ledger.guards[: call.guards[1]])), numbers
