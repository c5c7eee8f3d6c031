"""Regimes and runs of deeper models in; out the places of each regime with the layers told that it is of.

A regime is said of all layers of a list, of which few were there when it was derived. Where a deeper model
has one that no regime gives (a window in each third, half the sequence in each next), those of its place say
for which they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import torch

from forwardbook.analyzers.instances.pretrained.depth import counts_layers
from forwardbook.analyzers.symbolic.patterns import calls_of
from forwardbook.analyzers.symbolic.summary import Summary, summarise
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace, general
from forwardbook.pipeline.derivation.entry import REFUTED
from forwardbook.pipeline.derivation.explore import FULL, LOW
from forwardbook.pipeline.derivation.places import ANY, at_places, narrower
from forwardbook.pipeline.reprove.deep_runs import DeepRuns, Run
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.profiling.proof import widths_of
from forwardbook.saying import at_place
from forwardbook.schema import Entry, Regime, Unresolved, Validation

LOOKED_AT: Final = 96  # calls of a class in one place


@dataclass(frozen=True)
class Wrong:
    """How a regime that speaks of a call differs from it, and at which sizes."""

    differences: tuple[str, ...]
    values: Mapping[str, int]


_By = dict[tuple[str, torch.dtype], dict[str, None]]
"""Paths by the name of a regime and the format of numbers."""


@dataclass
class _Met:
    """Of one class the paths of its calls, and what became of each where a regime speaks of it."""

    every: dict[torch.dtype, dict[str, None]] = field(default_factory=dict)
    """By the format of numbers."""
    right: _By = field(default_factory=dict)
    unexplained: _By = field(default_factory=dict)
    others: _By = field(default_factory=dict)
    """Of those that only regimes of listed layers give, by the names of the others that speak of them."""
    wrong: dict[str, Wrong] = field(default_factory=dict)
    """By the name of a regime the first such call that it speaks of."""
    held: set[str] = field(default_factory=set)
    """Names of regimes that hold in some run, whether or not they speak of a call there."""
    refuted: dict[str, Wrong] = field(default_factory=dict)
    """Of those that give no call of a run in which nothing else may speak."""
    fitting: set[str] = field(default_factory=set)
    """Names of those that gave some call."""


@dataclass(frozen=True)
class Layers:
    """What deeper models tell of the regimes of a class, by the name of each."""

    places: Mapping[str, tuple[str, ...]]
    """Those that it is called in now, where these are others than before."""
    wrong: Mapping[str, Wrong]
    """Of those that gave no call."""
    held: frozenset[str]
    """The names of those that hold at sizes of some run."""


def with_layers_told(entry: Entry, runs: DeepRuns) -> Entry:
    """An entry, its regimes that were derived in the model of these runs said of layers that they give.

    One that holds in a deeper model and gives none of the calls of which it speaks is refuted and taken out.
    """
    every = (StoredRegime(one) for one in entry.regimes)
    regimes = [one for one in every if one.belongs_to(runs.recipe.scenario) and not one.flips]
    open_to = [one for one in regimes if any(ANY in place.split(".") for place in one.regime.places)]
    if not open_to:
        return entry
    found = layers_met(regimes, entry.full_class_name, runs)
    names = {one.regime.name for one in open_to}
    told = {name: places for name, places in found.places.items() if name in names}
    refuted = {name: one for name, one in found.wrong.items() if name in names}
    kept = [one for one in entry.regimes if one.name not in refuted]
    changed = [at_places(one, told[one.name]) if one.name in told else one for one in kept]
    rows = [_refuted(one, refuted[one.name]) for one in entry.regimes if one.name in refuted]
    if rows:
        verdict = Validation(verdict="unproved", reason=f"{rows[0].operation}: {rows[0].reason}")
        entry = entry.model_copy(update={"validation": verdict})
    return entry.model_copy(update={"regimes": tuple(changed), "unresolved": (*entry.unresolved, *rows)})


def _refuted(regime: Regime, wrong: Wrong) -> Unresolved:
    said = f"{REFUTED}in a model of more layers {wrong.differences[0]}"
    return Unresolved(file="", line=0, operation=f"{regime.name}, {regime.context}", reason=said)


def layers_met(regimes: Sequence[StoredRegime], target: str, runs: DeepRuns) -> Layers:
    """Where regimes of a class are right in deeper models.

    A regime that gives no call of a place in which one is unexplained keeps it: it is not known to be of any
    layer there. One that is said of both number formats keeps the layers that it gives in both. Where another
    lists its layers, such as it has may follow beyond: then this one says which it was seen to give, too.
    """
    met = _Met()
    for dtype in (FULL, LOW):
        speaking = any(one.holds_for(widths_of(dtype)) for one in regimes)
        usual = runs.usual(dtype) if speaking else ()
        for run in usual:
            _meet(met, regimes, target, run)
        for run in runs.besides.get(dtype, ()):
            _meet(met, regimes, target, run, all_hold=True)
        for one in regimes if usual else ():
            if one.regime.name not in met.held and one.holds_for(widths_of(dtype)):
                for run in runs.where(one, dtype):
                    _meet(met, regimes, target, run)
    told = ((one.regime, _places(one, met)) for one in regimes)
    return Layers(
        {regime.name: places for regime, places in told if places != regime.places},
        {name: wrong for name, wrong in met.wrong.items() if name not in met.fitting} | met.refuted,
        frozenset(met.held),
    )


def is_unexplained(regimes: Sequence[StoredRegime], target: str, run: Run) -> bool:
    """Whether a run has a call of the class in a place of these regimes that is as none of them says.

    So is one whose sizes have other names than theirs.
    """
    met = _Met()
    _meet(met, regimes, target, run)
    speaking = [one for one in regimes if one.holds_for(widths_of(run.dtype))]
    unnamed = [one for one in speaking if not one.names <= run.values.keys()]
    known = met.every.get(run.dtype, {})
    calls = [call for call in _calls(run.trace, target) if call.path not in known] if unnamed else []
    return bool(met.unexplained) or any(one.speaks_of(call) for one in unnamed for call in calls)


def _meet(
    met: _Met, regimes: Sequence[StoredRegime], target: str, run: Run, all_hold: bool = False
) -> None:
    """Hold the calls of a run against regimes; `all_hold` of those only of which no other may speak."""
    holding = [
        one
        for one in regimes
        if one.names <= run.values.keys() and one.holds(run.values) and not one.guessed(run.trace.assumed)
    ]
    met.held.update(one.regime.name for one in holding)
    waiting = [one for one in regimes if one not in holding and one.holds_for(widths_of(run.dtype))]
    right, unexplained = _By(), _By()
    wrong: dict[str, Wrong] = {}
    for call in _calls(run.trace, target):
        speaking = [one for one in holding if one.speaks_of(call)]
        if not speaking or (all_hold and any(one.speaks_of(call) for one in waiting)):
            continue
        measured = summarise(run.trace, call, {})
        differing = {one.regime.name: one.differences(measured, run.values) for one in speaking}
        if all(differing.values()) and any(_but_for_layers(one, call, measured, run) for one in waiting):
            continue
        fitting = [one for one in speaking if not differing[one.regime.name]]
        met.every.setdefault(run.dtype, {})[call.path] = None
        met.fitting.update(one.regime.name for one in fitting)
        for one in () if fitting else speaking:
            name = one.regime.name
            wrong[name] = Wrong(tuple(differing[name]), run.values)
            unexplained.setdefault((name, run.dtype), {})[call.path] = None
        for one in fitting:
            right.setdefault((one.regime.name, run.dtype), {})[call.path] = None
        if fitting and all(_is_listed(one, call.path) for one in fitting):
            for one in (one for one in speaking if one not in fitting):
                met.others.setdefault((one.regime.name, run.dtype), {})[call.path] = None
    met.wrong = {**wrong, **met.wrong}
    for key, paths in unexplained.items():
        if all_hold and key not in right:  # which sizes these are tells it from others, and not which layers
            met.refuted.setdefault(key[0], wrong[key[0]])
            continue
        met.unexplained.setdefault(key, {}).update(paths)
    for key, paths in right.items():  # one of two calls of a module may be as nothing says
        is_all = (path for path in paths if path not in unexplained.get(key, ()))
        met.right.setdefault(key, {}).update(dict.fromkeys(is_all))


def _but_for_layers(one: StoredRegime, call: CallRecord, measured: Summary, run: Run) -> bool:
    """Whether a regime gives the numbers of a call in its place, and only how many layers are forbids it.

    The last of two layers is proved where there are two, and no number of a layer tells which is the last.
    """
    if not one.speaks_of(call) or not one.names <= run.values.keys():
        return False
    broken = [c for c in one.conditions if not c.is_met(run.values)]
    of_layers = all(counts_layers(name) for c in broken for name in c.symbols())
    return of_layers and not one.differences(measured, run.values)


def _calls(trace: Trace, target: str) -> Iterator[CallRecord]:
    """So many calls in each place."""
    places: dict[str, list[CallRecord]] = {}
    for call in calls_of(trace, target):
        places.setdefault(general(call.path), []).append(call)
    for same in places.values():
        yield from islice(same, LOOKED_AT)


def _is_listed(one: StoredRegime, path: str) -> bool:
    """Whether it says of which layers it is, this one among them: then it is of no others like it."""
    mine = (place for place in one.regime.places if at_place(place, path))
    return any(part[:1].isdigit() for place in mine for part in place.split("."))


def _followed(one: StoredRegime, met: _Met) -> tuple[str, ...]:
    """Its places without those of one module that a deeper model calls as nothing says, where others remain.

    What comes after all layers may hang on how many there are, and no number of a layer tells it.
    """
    mine = (paths for (name, _), paths in met.unexplained.items() if name == one.regime.name)
    unexplained = {path for paths in mine for path in paths}
    kept = tuple(place for place in one.regime.places if place not in unexplained)
    return kept or one.regime.places


def _places(one: StoredRegime, met: _Met) -> tuple[str, ...]:
    """Its places without the layers that it gives at no size of some number format."""
    told: dict[str, None] = {}
    name, formats = one.regime.name, [dtype for dtype in met.every if one.holds_for(widths_of(dtype))]
    right = {dtype: set(met.right.get((name, dtype), ())) for dtype in formats}
    never = {
        dtype: {*met.unexplained.get((name, dtype), ()), *met.others.get((name, dtype), ())} - right[dtype]
        for dtype in formats
    }
    every, mine = (set[str]().union(*paths) for paths in ([met.every[d] for d in formats], right.values()))
    for dtype in formats:
        if never[dtype]:  # what only a deeper model of the other format has is not known
            every, mine = every.intersection(met.every[dtype]), mine.intersection(met.every[dtype])
    wrong = set[str]().union(*never.values())
    for place in _followed(one, met):
        its, others, there = (
            sorted(path for path in paths if at_place(place, path)) for paths in (mine, wrong, every)
        )
        is_told = bool(set(its).difference(others))
        told |= dict.fromkeys(narrower(place, its, others, there) if is_told else (place,))
    return tuple(told)
