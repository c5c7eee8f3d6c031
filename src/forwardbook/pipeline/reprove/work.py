"""What a child process does for a reproof: call classes at fresh sizes, hold stored formulas against that."""

from __future__ import annotations

import contextlib
import json
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Final, cast

import torch
from pydantic import JsonValue

from forwardbook.analyzers.instances.adapters import adapter_for
from forwardbook.analyzers.instances.recipe import InstanceOptions, Recipe, hinted
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.symbolic.patterns import calls_of, class_name
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace
from forwardbook.formula import Condition
from forwardbook.pipeline.child.overtime import Clock, Overtime
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.reprove.again import AGAIN, EntryAgain, RegimeAgain, State
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime, general
from forwardbook.profiling.proof import UNEQUAL, measure, widths_of
from forwardbook.profiling.real import hints_of
from forwardbook.profiling.sizes import draw
from forwardbook.schema import Entry, Given

TRIES: Final = 10
ALL_LARGE: Final = 4  # tries in which every size is larger; then a growing share stays
CALLS: Final = 8  # calls of modules in one place of a model that are looked at: first, last, some between
DTYPES: Final = (torch.float32, torch.bfloat16)
Flips = dict[str, str]


def work(request: Request) -> Response:
    """Each stored entry measured again; one run serves all entries and regimes that it can."""
    entries = [_Again(key, Entry.model_validate(raw), request.wanted) for key, raw in request.stored.items()]
    clock = Clock(request.budget * len(entries))
    runs = _Runs(request, clock)
    late = ""
    try:
        with clock.within():
            runs.through(entries)
    except Overtime:
        late = "it took longer than an entry is given"
    results = [one.result(late).model_dump(mode="json") for one in entries]
    return Response(diagnostics={AGAIN: cast("JsonValue", results)})


@dataclass
class _Met:
    """What became of one regime so far."""

    points: int = 0
    times: list[float] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    differences: tuple[str, ...] = ()
    explains: bool = False
    """Whether it gave the numbers of a call beside the one that is as nothing says it is."""
    reason: str = ""


@dataclass(frozen=True)
class _Way:
    """A recipe with one way of making inputs, its sizes, and which run it is: others may share it."""

    recipe: Recipe
    hints: Mapping[str, int]
    key: tuple[object, ...]


class _Again:
    """One entry, and what became of its regimes."""

    def __init__(self, key: str, entry: Entry, callers: Sequence[str] = ()) -> None:
        self.key, self.entry, self.callers = key, entry, callers
        self.regimes = [StoredRegime(one, entry.same_as is not None) for one in entry.regimes]
        self.met = {one.name: _Met() for one in entry.regimes}
        self.reason = ""
        self.recipes = self._recipes()

    def result(self, late: str) -> EntryAgain:
        """All regimes; `late` is why time did not suffice, if it did not."""
        regimes = tuple(self._told(one, late) for one in self.regimes)
        measured = any(one.state != "unmeasured" for one in regimes)
        return EntryAgain(
            key=self.key,
            full_class_name=self.entry.full_class_name,
            regimes=regimes,
            reason="" if measured else "; ".join(sorted({one.reason for one in regimes})) or self.reason,
        )

    def _told(self, one: StoredRegime, late: str) -> RegimeAgain:
        met = self.met[one.regime.name]
        state: State = "equal" if met.points else "unmeasured"
        if met.differences:
            state = "uncovered" if met.explains else "different"
        reason = met.reason or self.reason or late or "no way leads to it"
        return RegimeAgain(
            name=one.regime.name,
            state=state,
            points=met.points,
            times=round(median(met.times), 2) if met.times else 0.0,
            reason=reason if state == "unmeasured" else "",
            sizes=met.sizes,
            differences=met.differences,
        )

    def open(self, flips: Flips | None = None) -> list[StoredRegime]:
        """The regimes that no measurement has met."""
        unmet = (one for one in self.regimes if self._is_open(one))
        return [one for one in unmet if flips is None or one.flips == flips]

    def _is_open(self, one: StoredRegime) -> bool:
        met = self.met[one.regime.name]
        return not met.points and not met.differences

    def _recipes(self) -> Iterator[tuple[Recipe, Flips]]:
        """Ways to call the class: those that an analysis takes, then those of the catalogue."""
        name = self.entry.full_class_name
        for caller in self.callers:
            with contextlib.suppress(Exception, SystemExit):
                for recipe in recipes_for(caller):
                    yield replace(recipe, calls_as=name), {}
        for flips in dict.fromkeys(tuple(sorted(one.flips.items())) for one in self.regimes):
            try:
                with tempfile.TemporaryDirectory(prefix="forwardbook-") as folder:
                    options = _options(self.entry.given or Given(), dict(flips), Path(folder))
                    for recipe in recipes_for(name, options):
                        yield recipe, dict(flips)
            except (Exception, SystemExit) as error:  # building somebody else's model raises anything
                self.reason = _said(error)
        if self.entry.given is None and self.open({}):
            module = name.rpartition(".")[0]
            for way in adapter_for(self.entry.library).ways([module], {name}):
                if way.recipe is not None and name in way.holds:
                    yield replace(way.recipe, calls_as=name), {}

    def hold(self, one: StoredRegime, trace: Trace, target: str, values: Mapping[str, int]) -> bool:
        """Hold the calls that `one` speaks of against it and against whatever else speaks of them.

        It is wrong where a call is as nothing says it is, if no other meets it, or all that speak of it hold;
        else the call may belong to a regime whose conditions do not hold here. Whether this decided on `one`.
        """
        rivals = [other for other in self.regimes if other.flips == one.flips and other.shares_calls(one)]
        holding = [other for other in rivals if other.holds(values)]
        met, equal, unexplained = self.met[one.regime.name], False, tuple[str, ...]()
        for call in _looked_at(c for c in calls_of(trace, target) if one.is_called_at(c.path)):
            measured = summarise(trace, call, {})
            said = {other.regime.name: other.differences(measured, values) for other in holding}
            equal = equal or not said.get(one.regime.name, ["it does not hold"])
            if all(said.values()):
                unexplained = min((unexplained, tuple(said[one.regime.name])), key=_fewest)
        if unexplained and (not equal or len(holding) == len(rivals)):
            met.differences, met.sizes, met.explains = unexplained, dict(values), equal
        elif equal:
            met.points += 1
            met.sizes = {name: value for name, value in values.items() if name in one.names}
            met.times += _times(one, values)
        else:
            self.note(one, "no call was one of this regime")
        return bool(unexplained or equal)

    def note(self, one: StoredRegime, reason: str) -> None:
        """Why a regime could not be measured; the first reason stays."""
        met = self.met[one.regime.name]
        met.reason = met.reason or reason


class _Runs:
    """The runs of the ways that a group of entries has in common."""

    def __init__(self, request: Request, clock: Clock) -> None:
        self.scale, self.clock = request.scale, clock
        self.rng = random.Random(f"{request.seed} {' '.join(request.stored)}")
        self._called: dict[tuple[object, ...], frozenset[str]] = {}

    def through(self, entries: Sequence[_Again]) -> None:
        """Take of every entry the next way to call it, until nothing is open or no way is left."""
        waiting = list(entries)
        while waiting:
            ways: dict[tuple[object, ...], list[tuple[_Again, StoredRegime, _Way]]] = {}
            for entry in list(waiting):
                taken = next(entry.recipes, None) if entry.open() else None
                if taken is None:
                    waiting.remove(entry)
                    continue
                recipe, flips = taken
                mine = [one for one in entry.open(flips) if one.belongs_to(recipe.scenario)]
                way = self._way(entry, recipe, flips) if mine else None
                for one in mine if way is not None else ():
                    unknown = one.names - way.hints.keys()  # type: ignore[union-attr]
                    if unknown:
                        entry.note(one, f"this way has no size called {', '.join(sorted(unknown))}")
                    else:
                        ways.setdefault(way.key, []).append((entry, one, way))  # type: ignore[arg-type,union-attr]
            for same in ways.values():
                for dtype in DTYPES:
                    self._measured(same, dtype)

    def _way(self, entry: _Again, recipe: Recipe, flips: Flips) -> _Way | None:
        """The recipe with the first way of making inputs that runs, and its sizes."""
        for place, inputs in enumerate((recipe.inputs, *recipe.alternatives)):
            one = replace(recipe, inputs=inputs, alternatives=())
            try:
                hints = hints_of(one)
                with torch.device("meta"):
                    root = class_name(one.build(hinted))
                key = (
                    root,
                    recipe.target if root in (recipe.target, recipe.calls_as) else "",
                    recipe.scenario,
                    tuple(sorted(flips.items())),
                    tuple(sorted(hints.items())),
                    place,
                )
                if key not in self._called:
                    trace = measure(one, hints, torch.float32, widths_of(torch.float32))
                    self._called[key] = frozenset(class_name(call.module) for call in trace.calls)
            except Exception as error:  # noqa: BLE001 - another way may run; else the reason is told
                entry.reason = entry.reason or _said(error)
                continue
            if one.calls_as in self._called[key]:
                return _Way(one, hints, key)
        return None

    def _measured(self, same: Sequence[tuple[_Again, StoredRegime, _Way]], dtype: torch.dtype) -> None:
        """Points of every regime of one way in one number format, at sizes as large as the module takes."""
        done: set[int] = set()
        for place, (entry, one, way) in enumerate(same):
            widths = (
                UNEQUAL if dtype != torch.float32 and entry.met[one.regime.name].points else widths_of(dtype)
            )
            if place in done or not one.holds_for(widths):
                continue
            for attempt in range(TRIES):
                drawn = self._drawn(entry, one, way, dtype, widths, attempt)
                if drawn is None:
                    continue
                trace, values = drawn
                for other, (theirs, regime, its) in enumerate(same):
                    fits = other not in done and regime.holds(values)
                    if fits and theirs.hold(regime, trace, its.recipe.calls_as, values):
                        done.add(other)
                if place in done:
                    break

    def _drawn(
        self,
        entry: _Again,
        one: StoredRegime,
        way: _Way,
        dtype: torch.dtype,
        widths: Mapping[str, int],
        attempt: int,
    ) -> tuple[Trace, dict[str, int]] | None:
        stated = [*(Condition.parse(text) for text in way.recipe.conditions), *one.conditions]
        conditions = [c for c in stated if c.symbols() <= way.hints.keys()]
        share = 1.0 if attempt < ALL_LARGE else 1.0 - (attempt - ALL_LARGE) / (TRIES - ALL_LARGE) * 0.5
        scale = {name: self.scale for name in way.hints if self.rng.random() <= share}
        sizes = draw(way.hints, conditions, self.rng, attempts=12, scale=scale)
        if sizes is None:
            entry.note(one, "no sizes were found that satisfy all conditions")
            return None
        order = Widths(widths["w_dtype_bytes"], widths["a_dtype_bytes"], widths["kv_dtype_bytes"])
        try:
            return run_measured(way.recipe, sizes, dtype, order)[0], {**sizes, **widths}
        except Exception as error:  # noqa: BLE001 - the module's own refusal of these sizes
            entry.note(one, _said(error))
            return None


def _fewest(differences: Sequence[str]) -> tuple[bool, int]:
    """An order in which the nearest call comes first, and what is nothing last."""
    return not differences, len(differences)


def _looked_at(calls: Iterable[CallRecord]) -> Iterator[CallRecord]:
    """Of the calls in each place of a model the first, the last and some between."""
    places: dict[str, list[CallRecord]] = {}
    for call in calls:
        places.setdefault(general(call.path), []).append(call)
    for same in places.values():
        step = max(1, len(same) // (CALLS - 1))
        chosen = {*range(0, len(same), step), len(same) - 1}
        yield from (same[place] for place in sorted(chosen))


def _times(one: StoredRegime, values: Mapping[str, int]) -> list[float]:
    """How many times larger each size is than the middle one of those at which the regime was proved."""
    points = one.regime.proof.points if one.regime.proof is not None else ()
    before = {name: [p.sizes[name] for p in points if name in p.sizes] for name in one.names}
    return [values[name] / median(sizes) for name, sizes in before.items() if sizes and median(sizes) > 1]


def _options(given: Given, flips: Mapping[str, str], folder: Path) -> InstanceOptions:
    config: Path | None = None
    if given.config is not None:
        config = folder / "config.json"
        config.write_text(json.dumps(given.config), encoding="utf-8")
    return InstanceOptions(config_file=config, init={**given.init, **flips}, inputs=given.inputs)


def _said(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]
