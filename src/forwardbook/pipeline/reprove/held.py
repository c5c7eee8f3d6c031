"""A stored entry and measured calls of its class in; what became of each of its regimes out."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Final

from forwardbook.analyzers.instances.adapters import adapter_for
from forwardbook.analyzers.instances.recipe import InstanceOptions, Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.symbolic.patterns import calls_of
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace, general
from forwardbook.formula import Condition
from forwardbook.pipeline.reprove.again import EntryAgain, RegimeAgain, State
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.profiling.raised import first_line_kept
from forwardbook.schema import WIDTH_NAMES, Entry, Given, ProofPoint

CALLS: Final = 8  # calls of modules in one place of a model that are looked at: first, last, some between
Flips = dict[str, str]


@dataclass
class _Met:
    """What became of one regime so far."""

    points: int = 0
    times: list[float] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    differences: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Conditions of other classes without which it was seen to fail."""
    proved: tuple[ProofPoint, ...] = ()
    """Points that meet these, where its proof has too few of them."""
    places: tuple[str, ...] = ()
    """Where it is called, where a deeper model has layers of which it is not."""
    states: tuple[str, ...] = ()
    """Of live storage, what its peak lacked."""
    explains: bool = False
    """Whether it gave the numbers of a call beside the one that is as nothing says it is."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What a run tells of a regime."""

    equal: bool
    """Whether it gives every number of a call."""
    unexplained: tuple[str, ...]
    """How the call that is nearest to it differs, of those that nothing explains."""
    all_hold: bool
    """Whether whatever speaks of these calls holds at these sizes."""

    @property
    def is_wrong(self) -> bool:
        """Whether a call is as nothing says, and no other call is this regime's or nothing else may speak."""
        return bool(self.unexplained) and (not self.equal or self.all_hold)


class Again:
    """One entry, and what became of its regimes."""

    def __init__(self, key: str, entry: Entry, callers: Sequence[str] = ()) -> None:
        self.key, self.entry, self.callers = key, entry, callers
        self.regimes = [StoredRegime(one, entry.same_as is not None) for one in entry.regimes]
        self.met = {one.name: _Met() for one in entry.regimes}
        self.needed: dict[str, Sequence[Condition]] = {}
        """What regimes are found to need beside the conditions that they say."""
        self.reason = ""
        self.recipes = self._recipes()
        self._put_off: list[tuple[Recipe, Flips]] = []

    def result(self, late: str) -> EntryAgain:
        """All regimes; `late` is why time did not suffice, if it did not."""
        regimes = tuple(self._result(one, late) for one in self.regimes)
        measured = any(one.state != "unmeasured" for one in regimes)
        return EntryAgain(
            key=self.key,
            full_class_name=self.entry.full_class_name,
            regimes=regimes,
            reason="" if measured else "; ".join(sorted({one.reason for one in regimes})) or self.reason,
        )

    def _result(self, one: StoredRegime, late: str) -> RegimeAgain:
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
            needs=met.needs,
            proved=met.proved,
            places=met.places,
            states=met.states,
        )

    def becomes(self, one: StoredRegime) -> None:
        """From now on a regime is as this one of its name."""
        names = [other.regime.name for other in self.regimes]
        self.regimes[names.index(one.regime.name)] = one

    def named(self, name: str) -> StoredRegime:
        """The regime of this name, as it is by now."""
        return next(one for one in self.regimes if one.regime.name == name)

    def open(self, flips: Flips | None = None) -> list[StoredRegime]:
        """The regimes that no measurement has met."""
        unmet = (one for one in self.regimes if self.is_open(one))
        return [one for one in unmet if flips is None or one.flips == flips]

    def is_open(self, one: StoredRegime) -> bool:
        """Whether no measurement has met it."""
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
                self.reason = first_line_kept(error)
        if self.entry.given is None and (still := self.open({})):
            module = name.rpartition(".")[0]
            around = {f"{module}.{part}" for part in (one.part for one in still) if part}
            for way in adapter_for(self.entry.library).ways([module], {name} | around):
                if way.recipe is not None and name in way.holds:
                    yield replace(way.recipe, calls_as=name), {}

        yield from self._put_off

    def put_off(self, taken: tuple[Recipe, Flips]) -> bool:
        """Take a way to call it after all others; whether that was not done before."""
        known = taken in self._put_off
        if not known:
            self._put_off.append(taken)
        return not known

    def holds(self, one: StoredRegime, values: Mapping[str, int]) -> bool:
        """Whether its conditions hold, and those that it was found to need."""
        return one.holds(values) and all(c.is_met(values) for c in self.needed.get(one.regime.name, ()))

    def hold(self, one: StoredRegime, trace: Trace, target: str, values: Mapping[str, int]) -> bool:
        """Hold the calls that `one` speaks of against it, and note what comes of it.

        It is wrong where a call is as nothing says it is, if no other meets it, or all that speak of it hold;
        else the call may belong to a regime whose conditions do not hold here. Whether this decided on `one`.
        """
        return self.judge(one, self.told(one, trace, target, values), values)

    def judge(self, one: StoredRegime, told: Told, values: Mapping[str, int]) -> bool:
        """Note what comes of what a run told of `one`; whether that decided on it."""
        if told.is_wrong:
            self.refute(one, told.unexplained, values, explains=told.equal)
        elif told.equal:
            self.confirm(one, values)
        else:
            self.note(one, "no call was one of this regime")
        return bool(told.unexplained or told.equal)

    def speaks_at(self, one: StoredRegime, widths: Mapping[str, int]) -> bool:
        """Whether whatever may speak of a call beside `one` holds for widths that no number format has."""
        return all(other.holds_for(widths) for other in self.regimes if other.shares_runs(one))

    def told(self, one: StoredRegime, trace: Trace, target: str, values: Mapping[str, int]) -> Told:
        """What a run tells of `one` and of whatever else speaks of its calls, in numbers of these widths.

        A copy is called in other places than the class whose formulas it has: where its model has none
        of those places, it is of some calls there, and nothing says of which.
        """
        widths = {name: value for name, value in values.items() if name in WIDTH_NAMES}
        rivals = [other for other in self.regimes if other.shares_runs(one) and other.holds_for(widths)]
        hold = {other.regime.name for other in rivals if self.holds(other, values)}
        equal, all_hold, unexplained = False, True, tuple[str, ...]()
        every = calls_of(trace, target)
        elsewhere = one.is_copy and not any(one.speaks_of(c) for c in every)
        for calls in _in_turn(c for c in every if elsewhere or one.speaks_of(c)):
            for call in calls:
                measured = summarise(trace, call, {})
                speaking = [other for other in rivals if elsewhere or other.regime.is_called_at(call.path)]
                holding = [other for other in speaking if other.regime.name in hold]
                found = {other.regime.name: other.differences(measured, values) for other in holding}
                equal = equal or not found.get(one.regime.name, ["it does not hold"])
                if all(found.values()):
                    unexplained = min((unexplained, tuple(found[one.regime.name])), key=_fewest)
                    all_hold = all_hold and len(holding) == len(speaking)
            if equal or not unexplained:
                break  # else the call of this regime may be among the others
        return Told(equal, () if equal and elsewhere else unexplained, all_hold)

    def refute(
        self, one: StoredRegime, differences: tuple[str, ...], values: Mapping[str, int], explains: bool
    ) -> None:
        """A call is as nothing says it is."""
        met = self.met[one.regime.name]
        met.differences, met.sizes, met.explains = differences, dict(values), explains

    def confirm(self, one: StoredRegime, values: Mapping[str, int]) -> None:
        """It gave every number of a call."""
        met = self.met[one.regime.name]
        met.points += 1
        if not met.differences:  # else those of the call that differs are what there is to know
            met.sizes = {name: value for name, value in values.items() if name in one.names}
        met.times += _times(one, values)

    def note(self, one: StoredRegime, reason: str) -> None:
        """Why a regime could not be measured; the first reason stays."""
        met = self.met[one.regime.name]
        met.reason = met.reason or reason


def _fewest(differences: Sequence[str]) -> tuple[bool, int]:
    """An order in which the nearest call comes first, and what is nothing last."""
    return not differences, len(differences)


def _in_turn(calls: Iterable[CallRecord]) -> Iterator[Sequence[CallRecord]]:
    """Of the calls in each place of a model the first, the last and some between; then the others."""
    places: dict[str, list[CallRecord]] = {}
    for call in calls:
        places.setdefault(general(call.path), []).append(call)
    first: list[CallRecord] = []
    others: list[CallRecord] = []
    for same in places.values():
        step = max(1, len(same) // (CALLS - 1))
        chosen = {*range(0, len(same), step), len(same) - 1}
        for place, call in enumerate(same):
            (first if place in chosen else others).append(call)
    yield first
    yield others


def _times(one: StoredRegime, values: Mapping[str, int]) -> list[float]:
    """How many times larger each size is than the middle one of those at which the regime was proved."""
    points = one.regime.points
    known = one.names & values.keys()  # what only data decides has no size where nobody chose one
    before = {name: [p.sizes[name] for p in points if name in p.sizes] for name in known}
    return [values[name] / median(sizes) for name, sizes in before.items() if sizes and median(sizes) > 1]


def _options(given: Given, flips: Mapping[str, str], folder: Path) -> InstanceOptions:
    config: Path | None = None
    if given.config is not None:
        config = folder / "config.json"
        config.write_text(json.dumps(given.config), encoding="utf-8")
    return InstanceOptions(config_file=config, init={**given.init, **flips}, inputs=given.inputs)
