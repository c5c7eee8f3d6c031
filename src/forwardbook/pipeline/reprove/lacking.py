"""What a child process does to find what stored peaks lack: states of live storage that they do not name.

A state that is the largest at few sizes alone is met by no draw. A symbolic run has all of them: each is
compared with the peak, at sizes reached from those at which it comes near, and what is found is measured.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import torch

from forwardbook.analyzers.symbolic.patterns import asked_before, calls_of, needed_before
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_symbolically
from forwardbook.analyzers.symbolic.summary import states_of, summarise
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Expr
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.reprove.overtaken_peak import Search, Seen, Sizes
from forwardbook.pipeline.reprove.work import DTYPES, Call, Runs, worked
from forwardbook.profiling.proof import measure, widths_of
from forwardbook.profiling.raised import first_line_kept


def work(request: Request) -> Response:
    """Each stored peak held against all states of live storage."""
    return worked(request, Lacking)


class Lacking(Runs):
    """Runs at sizes at which a state is the largest that a peak does not name."""

    def measured(self, same: Sequence[Call]) -> None:
        """What becomes of all regimes of one way: each is decided on once all were held against all runs."""
        met: dict[int, Sizes] = {}
        searches: list[Search] = []
        for dtype in DTYPES:
            for search in self._searches(dtype, same, met):
                searches.append(search)
                if not search.through():
                    _refute(search, same)
        while unconfirmed := [one for one in _open(searches) if not one.is_confirmed()]:
            for search in unconfirmed:
                _refute(search, same)
        for search in _open(searches):
            found = search.entry.met[search.name]
            found.states = (*found.states, *(state.text() for state, _ in search.joined))
            found.proved = (*found.proved, *search.points)
        for place, values in met.items():
            entry, one, _ = same[place]
            if not entry.met[one.regime.name].differences:
                entry.confirm(one, values)

    def _searches(self, dtype: torch.dtype, same: Sequence[Call], met: dict[int, Sizes]) -> Iterator[Search]:
        """What is held against all states of runs in one number format; what gave a call is `met` there."""
        widths = widths_of(dtype)
        starts: defaultdict[tuple[tuple[str, int], ...], list[int]] = defaultdict(list)
        for place, call in enumerate(same):
            is_wrong = bool(call[0].met[call[1].regime.name].differences)
            if is_wrong or not call[1].holds_for(widths):
                continue
            if (start := self._start(call, widths)) is not None:
                starts[tuple(sorted(start.items()))].append(place)
        for key, places in starts.items():
            sizes = dict(key)
            recipe = same[places[0]][2].recipe
            try:
                trace = measure(recipe, sizes, dtype, widths)
                run = run_symbolically(recipe, dtype, hints=sizes)
            except Exception as error:  # noqa: BLE001 - the module's own refusal of these sizes
                for entry, one, _ in (same[place] for place in places):
                    entry.note(one, first_line_kept(error))
                continue
            for place in places:
                if self._is_met(same[place], run, trace, {**sizes, **widths}):
                    met.setdefault(place, {**sizes, **widths})
                    for seen in _seen(same[place], run, trace, {**sizes, **widths}):
                        yield Search(same[place], seen, sizes, dtype, self.rng)

    def _start(self, call: Call, widths: Sizes) -> dict[str, int] | None:
        """Sizes at which a regime holds: its model's own, else of its proof, else drawn."""
        entry, one, way = call
        points = (point.sizes for point in one.regime.points)
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


def _open(searches: Sequence[Search]) -> list[Search]:
    """Those that found something, of regimes that nothing has refuted."""
    return [one for one in searches if one.joined and not one.entry.met[one.name].differences]


def _refute(search: Search, same: Sequence[Call]) -> None:
    """A peak lacks what cannot be added to it, and stays as it was."""
    assert search.wrong is not None  # nothing is found without it
    differences, values = search.wrong
    stored = next(one for entry, one, _ in same if entry is search.entry and one.regime.name == search.name)
    search.entry.becomes(stored)
    search.entry.refute(stored, differences, values, explains=False)


def _is_alike(symbolic: Trace, measured: Trace, target: str) -> bool:
    """Whether both runs call a class in the same places, one after another."""
    return [c.path for c in calls_of(symbolic, target)] == [c.path for c in calls_of(measured, target)]


def _seen(call: Call, run: SymbolicRun, trace: Trace, values: Sizes) -> Iterator[Seen]:
    """The states of each call that a regime gives the numbers of."""
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
        if frozenset(states) in known:
            continue
        known.add(frozenset(states))
        if not one.differences(summarise(trace, real, {}), values):
            asked, numbers = asked_before(run, symbolic), needed_before(run, symbolic)
            yield Seen(symbolic.path, occurrence, states, asked, numbers)
