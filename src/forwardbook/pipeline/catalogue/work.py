"""What a child process does for a unit: ways are tried until each class is reached, derived and proved."""

from __future__ import annotations

import contextlib
import gc
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

from pydantic import JsonValue

from forwardbook.analyzers.instances.adapters import Adapter, Way, adapter_for
from forwardbook.analyzers.reader import Facts, ReaderError, Sources, family_digest, read_class
from forwardbook.errors import FormulaError
from forwardbook.pipeline.catalogue.derive import LATE, Before, Reached, called, names_called, reach
from forwardbook.pipeline.catalogue.lacking import wanted_package, with_packages
from forwardbook.pipeline.catalogue.reasons import DISPUTED, kind_of, place_of, shortened
from forwardbook.pipeline.catalogue.record import (
    UNIT,
    ClassResult,
    Spent,
    State,
    UnitRecord,
    UnitResult,
    WayResult,
)
from forwardbook.pipeline.catalogue.uncalled import UNCALLED, with_callers
from forwardbook.pipeline.child.failure import described, kept_place
from forwardbook.pipeline.child.overtime import Clock, Overtime
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.derivation.entry import REFUTED, record
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.derivation.opinions import judges_of
from forwardbook.pipeline.derivation.reread import misread
from forwardbook.pipeline.reprove.deep_runs import DeepRuns
from forwardbook.pipeline.reprove.layers import with_layers_told
from forwardbook.pipeline.reprove.models import model_of, with_model_told
from forwardbook.profiling.raised import first_line_kept
from forwardbook.schema import PROVED, Entry, Judge

COLLECT = (20_000, 10, 50)  # objects before the garbage collector looks: formulas are many, and no cycles
DIGITS = 24  # of the hash of a family's code: two of ten thousand classes do not meet by accident
SHARE = 3
"""A way may use so many times what would be left for each class: one that never ends takes not all of it."""
LEAST = 30.0
"""Seconds of processor time that a way has in any case, where so many are left."""
SPARE = 30.0
"""Seconds for plain runs when all others are spent: they say what else a real forward reaches."""
_UNBUILT = ("constructor", "import", "needs")  # what keeps a model from being looked into


def work(request: Request) -> Response:
    """The result of a unit: `wanted` are full class names, `target` is the unit's name."""
    begin, library = time.monotonic(), request.target.partition(".")[0]
    gc.set_threshold(*COLLECT)
    unit = _Unit(request, adapter_for(library, lambda recipe: names_called(recipe, {})), library)
    unit.run()
    result = UnitResult(
        unit=request.target,
        library=library,
        record=UnitRecord(
            stamp="", classes=tuple(unit.classes()), ways=tuple(unit.ways), model_types=unit.model_types()
        ),
        entries=unit.entries,
        spent=Spent(
            seconds=round(time.monotonic() - begin, 2),
            processor=round(time.process_time(), 2),
            megabytes=round(_megabytes(), 1),
        ),
    )
    return Response(diagnostics={UNIT: cast("JsonValue", result.model_dump(mode="json"))})


def _megabytes() -> float:
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (1024 if sys.platform != "darwin" else 1024 * 1024)


_HINDERED = {"bounded": "hangs on data", "assumed": "decided for data", "pinned": "at fixed numbers"}


class _Unit:
    """The classes that are still wanted, and what came of the others."""

    def __init__(self, request: Request, adapter: Adapter, library: str) -> None:
        self._request, self._adapter, self._library = request, adapter, library
        self._clock = Clock(request.budget)
        self._sources = Sources()
        self._modules = sorted({name.rpartition(".")[0] for name in request.wanted})
        self._missing = {name for name in request.wanted if name not in adapter.exceptions}
        self._done: dict[str, ClassResult] = {
            name: ClassResult(name=name, state="unreached", kind="exception", reason=adapter.exceptions[name])
            for name in request.wanted
            if name in adapter.exceptions
        }
        self._failed: dict[str, ClassResult] = {}
        self._left: dict[str, Way] = {}
        """The first way that held a class and did not call it."""
        self._stuck: set[str] = set()
        """Called by a plain run of a model that the symbolic one could not follow."""
        self._before = Before()
        self._models: dict[str, str] = {}
        """In which model the entries were derived that are of places below one."""
        self.ways: list[WayResult] = []
        self.entries: dict[str, dict[str, JsonValue]] = {}

    def run(self) -> None:
        """Try every way, until nothing is missing or time is up; then see what the others would reach."""
        self._tried(self._adapter.ways(self._modules, self._missing), self._try)
        if self._stuck and self._clock.left > 0:
            self._tried_apart()
        if self._missing and self._clock.left <= 0:
            late, self._clock = self._missing.copy(), Clock(SPARE)
            self._tried(self._adapter.ways(self._modules, self._missing), self._called)
            self._fail(late & self._missing, "", "timeout", LATE, "")

    def _tried_apart(self) -> None:
        """Ways of what was called in models that cannot be followed, beside those: parts by themselves."""
        known, missing = {one.name for one in self.ways}, self._missing
        self._missing = self._stuck.copy()
        ways = self._adapter.ways(self._modules, self._missing)
        self._tried((way for way in ways if way.name not in known), self._try_once_more)
        self._missing = missing

    def model_types(self) -> dict[str, tuple[str, ...]]:
        """The models of the unit by model type, whether or not they are wanted."""
        try:
            return self._adapter.models(self._modules)
        except (Exception, SystemExit):  # importing somebody else's package raises anything
            return {}

    def _tried(self, ways: Iterator[Way], how: Callable[[Way], None]) -> None:
        while self._missing:
            try:
                with self._clock.within():
                    way = next(ways, None)
            except Overtime:
                return
            if way is None:
                return
            how(way)

    def _called(self, way: Way) -> None:
        """Nothing but which classes a plain run calls."""
        targets = sorted(way.holds & self._missing)
        if targets and way.recipe is not None:
            for name in called(way.recipe, targets, Overtime(), self._clock).called:
                self._unproved(name, way, Overtime())
                self._missing.discard(name)

    def _try_once_more(self, way: Way) -> None:
        """As before, but what a model that cannot be followed calls stays wanted: a later way may do."""
        wanted = self._missing.copy()
        self._try(way)
        self._missing |= {name for name in wanted if name not in self.entries}

    def _try(self, way: Way) -> None:
        targets = sorted(way.holds & self._missing)
        if not targets and way.problem is None:
            return
        if way.recipe is None:
            assert way.problem is not None
            self._refused(way, targets, way.problem)
            return
        share = self._clock.left * SHARE * len(targets) / len(self._missing)
        clock = Clock(min(self._clock.left, max(share, LEAST)))
        reached = reach(way.recipe, targets, self._request.seed, self._request.points, clock, self._before)
        mine = reached.called & self._missing
        if reached.problem is not None:
            self._refused(way, sorted(set(targets) - mine), reached.problem, called=len(mine))
            for name in mine:
                self._unproved(name, way, reached.problem)
            if not isinstance(reached.problem, Overtime):
                self._stuck |= mine
        else:
            self.ways.append(self._ran(way, len(mine), reached.refused))
            self._fail(set(targets) - mine, way.name, "not called", UNCALLED, "")
            self._left |= {name: way for name in set(targets) - mine if name not in self._left}
        deeper = DeepRuns(way.recipe)
        self._told_apart(deeper)
        for name, found in reached.found.items():
            self._proved(name, way, found, reached, deeper)
        self._missing -= mine

    def _ran(self, way: Way, called: int, refused: Sequence[Exception]) -> WayResult:
        """What came of a way that ran, with the reason if it did in float32 alone."""
        _, reason, place = self._said(self._request.target, refused[0]) if refused else ("", "", "")
        reason = f"in bfloat16: {reason}" if reason else ""
        return WayResult(name=way.name, model_type=way.kind, reached=called, reason=reason, place=place)

    def _told_apart(self, others: DeepRuns) -> None:
        """What was derived in other models, if this one calls the same classes otherwise."""
        for name in sorted(self._models.keys() & (others.called() if self._models else set())):
            with contextlib.suppress(Overtime), Clock(min(self._clock.left, LEAST)).within():
                before = Entry.model_validate(self.entries[name])
                entry = with_model_told(before, self._models[name], others)
                if entry is not before:
                    self.entries[name] = cast("dict[str, JsonValue]", entry.model_dump(mode="json"))

    def _proved(
        self, name: str, way: Way, found: list[Found], reached: Reached, deeper: DeepRuns
    ) -> None:
        try:
            facts = read_class(name, sources=self._sources)
        except ReaderError as error:
            self._done[name] = self._result(name, "unproved", way, "source", first_line_kept(error), "")
            return
        try:
            entry = record(facts, self._library, found, judged=self._judges(facts))
        except FormulaError as error:  # what cannot be written is as good as not derived
            self._done[name] = self._result(name, "unproved", way, "not proved", first_line_kept(error), "")
            return
        if entry.validation.verdict in PROVED:
            with contextlib.suppress(Overtime), Clock(min(self._clock.left, LEAST)).within():
                entry = with_layers_told(entry, deeper)
        refuted = any(row.reason.startswith(REFUTED) for row in entry.unresolved)
        state: State = entry.validation.verdict
        kind = ""
        if refuted and state != "exact":
            # what would have been derived with more time is no wrong formula
            state, kind = ("unproved", "timeout") if reached.late else ("wrong", "refuted")
        elif state == "unproved":
            kind = "timeout" if reached.late else kind_of(entry)
        elif state != "exact":
            kind = _HINDERED[state]
        reason = entry.validation.reason
        if state in PROVED and (problems := misread(entry)):
            state, kind, reason = "unproved", "not proved", "; ".join(problems)
        place = place_of(entry) if state not in PROVED else ""
        result = self._result(name, state, way, kind, reason, place)
        if state in PROVED or kind == DISPUTED:
            self.entries[name] = cast("dict[str, JsonValue]", entry.model_dump(mode="json"))
            if any(one.places for one in entry.regimes):
                self._models[name] = model_of(deeper.recipe)
            digest = family_digest(name, self._sources)[:DIGITS]
            result = result.model_copy(update={"digest": digest})
        self._done[name] = result

    def _judges(self, facts: Facts) -> Callable[[Found], Sequence[Judge]]:
        """Who is asked of a class: the judges, where it was called by itself; a model they would run anew."""
        ask = judges_of(facts)

        def judged(found: Found) -> Sequence[Judge]:
            if found.derived.pattern.path:
                return ()
            try:
                with Clock(min(self._clock.left, LEAST)).within():
                    return ask(found)
            except Overtime:
                return ()

        return judged

    def _unproved(self, name: str, way: Way, error: BaseException) -> None:
        kind, reason, place = self._said(name, error)
        self._done[name] = self._result(name, "unproved", way, kind, reason, place)

    def _refused(self, way: Way, targets: Iterable[str], error: BaseException, called: int = 0) -> None:
        kind, reason, place = self._said(next(iter(targets), self._request.target), error)
        self.ways.append(
            WayResult(
                name=way.name,
                model_type=way.kind,
                reached=called,
                kind=kind,
                reason=reason,
                place=place,
                lacks=wanted_package(error.__cause__ or error),
            )
        )
        self._fail(targets, way.name, kind, reason, place)

    def _fail(self, names: Iterable[str], way: str, kind: str, reason: str, place: str) -> None:
        """Keep the first reason of each; another way may still reach it."""
        for name in names:
            self._failed.setdefault(
                name,
                ClassResult(name=name, state="unreached", kind=kind, reason=reason, place=place, way=way),
            )

    def _said(self, target: str, error: BaseException) -> tuple[str, str, str]:
        if isinstance(error, Overtime):
            return "timeout", LATE, ""
        cause = error.__cause__ or error
        request = Request(target=target)
        kind = described(request, cause).problem_kind or "internal"
        text = first_line_kept(cause).rpartition(f"{target} to run: ")[2]
        return kind, shortened(text), kept_place(request, cause)

    @staticmethod
    def _result(name: str, state: State, way: Way, kind: str, reason: str, place: str) -> ClassResult:
        return ClassResult(
            name=name, state=state, kind=kind, reason=shortened(reason), place=place, way=way.name
        )

    def classes(self) -> list[ClassResult]:
        """Every wanted class, sorted."""
        found = {name: self._not_held(name) for name in self._missing}
        failed = with_packages({**found, **with_callers(self._failed, self._left)}, self.ways)
        return sorted({**failed, **self._done}.values(), key=lambda one: one.name)

    def _not_held(self, name: str) -> ClassResult:
        """A class in no tree that could be built: perhaps it is in one of those that could not be."""
        unbuilt = next((way for way in self.ways if way.kind in _UNBUILT), None)
        if unbuilt is None:
            said = "no model holds it as built by default"
            return ClassResult(name=name, state="unreached", kind="not held", reason=said)
        return ClassResult(
            name=name,
            state="unreached",
            kind=unbuilt.kind,
            reason=unbuilt.reason,
            place=unbuilt.place,
            way=unbuilt.name,
        )
