"""What a child process does for a reproof: call classes at fresh sizes, hold stored formulas against that."""

from __future__ import annotations

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
from forwardbook.analyzers.instances.recipe import InstanceOptions, Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.symbolic.patterns import calls_of
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace
from forwardbook.formula import Condition
from forwardbook.pipeline.overtime import Clock, Overtime
from forwardbook.pipeline.reprove import AGAIN, EntryAgain, RegimeAgain, State
from forwardbook.pipeline.request import Request, Response
from forwardbook.pipeline.stored_regimes import StoredRegime, general
from forwardbook.profiling.proof import UNEQUAL, measure, widths_of
from forwardbook.profiling.real import hints_of
from forwardbook.profiling.sizes import draw
from forwardbook.schema import Entry, Given

TRIES: Final = 10
ALL_LARGE: Final = 4  # tries in which every size is larger; then a growing share stays
CALLS: Final = 8  # calls of modules in one place of a model that are looked at: first, last, some between
DTYPES: Final = (torch.float32, torch.bfloat16)


def work(request: Request) -> Response:
    """Each stored entry measured again."""
    results = []
    for key, raw in request.stored.items():
        entry = Entry.model_validate(raw)
        results.append(_Again(key, entry, request).result().model_dump(mode="json"))
    return Response(diagnostics={AGAIN: cast("JsonValue", results)})


@dataclass
class _Met:
    """What became of one regime so far."""

    points: int = 0
    times: list[float] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    differences: tuple[str, ...] = ()
    reason: str = ""


class _Again:
    """One entry; its regimes are met one after the other."""

    def __init__(self, key: str, entry: Entry, request: Request) -> None:
        self.key, self.entry = key, entry
        self.scale, self.clock = request.scale, Clock(request.budget)
        self.rng = random.Random(f"{request.seed} {key}")
        self.regimes = [StoredRegime(one, entry.same_as is not None) for one in entry.regimes]
        self.met = {one.name: _Met() for one in entry.regimes}
        self.reason = ""

    def result(self) -> EntryAgain:
        """All regimes that could be met in the time given."""
        try:
            with self.clock.within():
                self._run()
        except Overtime:
            self.reason = "it took longer than one entry is given"
        regimes = tuple(self._told(one) for one in self.regimes)
        measured = any(one.state != "unmeasured" for one in regimes)
        return EntryAgain(
            key=self.key,
            full_class_name=self.entry.full_class_name,
            regimes=regimes,
            reason="" if measured else self.reason or "; ".join(sorted({one.reason for one in regimes})),
        )

    def _told(self, one: StoredRegime) -> RegimeAgain:
        met = self.met[one.regime.name]
        state: State = "different" if met.differences else "equal" if met.points else "unmeasured"
        return RegimeAgain(
            name=one.regime.name,
            state=state,
            points=met.points,
            times=round(median(met.times), 2) if met.times else 0.0,
            reason="" if met.points or met.differences else met.reason or self.reason or "no way leads to it",
            sizes=met.sizes,
            differences=met.differences,
        )

    def _run(self) -> None:
        for flips in dict.fromkeys(tuple(sorted(one.flips.items())) for one in self.regimes):
            mine = [one for one in self.regimes if tuple(sorted(one.flips.items())) == flips]
            for recipe in self._recipes(dict(flips)):
                wanted = [one for one in mine if one.belongs_to(recipe.scenario) and not self._is_met(one)]
                if wanted:
                    self._meet(recipe, wanted)
                if all(map(self._is_met, mine)):
                    break

    def _is_met(self, one: StoredRegime) -> bool:
        met = self.met[one.regime.name]
        return bool(met.points or met.differences)

    def _recipes(self, flips: Mapping[str, str]) -> Iterator[Recipe]:
        """Ways to call the class: those that an analysis takes, then those of the catalogue."""
        name = self.entry.full_class_name
        try:
            with tempfile.TemporaryDirectory(prefix="forwardbook-") as folder:
                yield from recipes_for(name, _options(self.entry.given or Given(), flips, Path(folder)))
        except (Exception, SystemExit) as error:  # building somebody else's model raises anything
            self.reason = _said(error)
        if flips or self.entry.given is not None or all(map(self._is_met, self.regimes)):
            return
        module = name.rpartition(".")[0]
        for way in adapter_for(self.entry.library).ways([module], {name}):
            if way.recipe is not None and name in way.holds:
                yield replace(way.recipe, calls_as=name)

    def _meet(self, recipe: Recipe, wanted: Sequence[StoredRegime]) -> None:
        runnable = self._runnable(recipe)
        if runnable is None:
            return
        recipe, hints = runnable
        for one in wanted:
            unknown = one.names - hints.keys()
            if unknown:
                self._note(one, f"this way has no size called {', '.join(sorted(unknown))}")
                continue
            for dtype in DTYPES:
                widths = widths_of(dtype)
                if dtype != torch.float32 and self.met[one.regime.name].points:
                    widths = UNEQUAL
                if _widths_hold(one, widths):
                    self._measure(recipe, hints, one, dtype, widths)

    def _runnable(self, recipe: Recipe) -> tuple[Recipe, dict[str, int]] | None:
        """The recipe with the first way of making inputs that runs, and its sizes."""
        for inputs in (recipe.inputs, *recipe.alternatives):
            one = replace(recipe, inputs=inputs, alternatives=())
            try:
                hints = hints_of(one)
                trace = measure(one, hints, torch.float32, widths_of(torch.float32))
            except Exception as error:  # noqa: BLE001 - another way may run; else the reason is told
                self.reason = self.reason or _said(error)
                continue
            if calls_of(trace, one.calls_as):
                return one, hints
        return None

    def _measure(
        self,
        recipe: Recipe,
        hints: Mapping[str, int],
        one: StoredRegime,
        dtype: torch.dtype,
        widths: Mapping[str, int],
    ) -> None:
        """One point of a regime in one number format, at sizes as large as the module takes."""
        stated = [*(Condition.parse(text) for text in recipe.conditions), *one.conditions]
        conditions = [c for c in stated if c.symbols() <= hints.keys()]
        for attempt in range(TRIES):
            share = 1.0 if attempt < ALL_LARGE else 1.0 - (attempt - ALL_LARGE) / (TRIES - ALL_LARGE) * 0.5
            scale = {name: self.scale for name in hints if self.rng.random() <= share}
            sizes = draw(hints, conditions, self.rng, attempts=12, scale=scale)
            if sizes is None:
                self._note(one, "no sizes were found that satisfy all conditions")
                continue
            order = Widths(widths["w_dtype_bytes"], widths["a_dtype_bytes"], widths["kv_dtype_bytes"])
            try:
                trace = run_measured(recipe, sizes, dtype, order)[0]
            except Exception as error:  # noqa: BLE001 - the module's own refusal of these sizes
                self._note(one, _said(error))
                continue
            if self._hold(one, trace, recipe.calls_as, {**sizes, **widths}):
                return

    def _hold(self, one: StoredRegime, trace: Trace, target: str, values: Mapping[str, int]) -> bool:
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
            met.differences, met.sizes = unexplained, dict(values)
        elif equal:
            met.points += 1
            met.sizes = {name: value for name, value in values.items() if name in one.names}
            met.times += _times(one, values)
        else:
            self._note(one, "no call was one of this regime")
        return bool(unexplained or equal) and bool(met.differences or met.points)

    def _note(self, one: StoredRegime, reason: str) -> None:
        met = self.met[one.regime.name]
        met.reason = met.reason or reason


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


def _widths_hold(one: StoredRegime, widths: Mapping[str, int]) -> bool:
    stated = [Condition.parse(text) for text in one.regime.conditions]
    return all(c.holds(widths) for c in stated if c.symbols() <= widths.keys())


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
