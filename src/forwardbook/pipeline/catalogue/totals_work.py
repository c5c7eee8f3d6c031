"""What a child process does for totals: call a model of each type, hold each call against the entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, cast

import torch
from pydantic import JsonValue

from forwardbook.analyzers.instances.adapters import Way, adapter_for
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import class_name
from forwardbook.analyzers.symbolic.summary import Summary, summarise
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace
from forwardbook.cost import Cost
from forwardbook.formula import Expr
from forwardbook.pipeline.catalogue.record import ModelTotals
from forwardbook.pipeline.child.overtime import Clock, Overtime
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.profiling.asked import hints_of
from forwardbook.profiling.proof import measure, predict, widths_of
from forwardbook.profiling.raised import first_line_kept
from forwardbook.schema import PER_LINE, Entry

TOTALS: Final = "totals"
"""Under this name the diagnostics of a response hold the totals by model type."""
WAYS: Final = 40  # ways looked at for the types of one unit: base models come first
LATE: Final = "it took longer than one unit is given"

Sums = dict[str, int]


def work(request: Request) -> Response:
    """The totals of every model type of a unit."""
    stored = {}
    for raw in request.stored.values():
        entry = Entry.model_validate(raw)
        stored[entry.full_class_name] = [
            StoredRegime(one, entry.same_as is not None) for one in entry.regimes
        ]
    found: dict[str, ModelTotals] = {}
    clock = Clock(request.budget)
    try:
        with clock.within():
            _through(request, stored, found)
    except Overtime:
        for name, one in found.items():
            if not one.measured:
                found[name] = one.model_copy(update={"problem": LATE})
    told = {name: one.model_dump(mode="json") for name, one in found.items()}
    return Response(diagnostics={TOTALS: cast("JsonValue", told)})


def _through(
    request: Request, stored: Mapping[str, Sequence[StoredRegime]], found: dict[str, ModelTotals]
) -> None:
    library = request.target.partition(".")[0]
    modules = sorted({name.rpartition(".")[0] for name in request.wanted})
    ways = adapter_for(library).ways(modules, set(request.wanted))
    for way in islice(ways, WAYS):
        known = found.get(way.kind)
        if not way.kind or (known is not None and known.measured):
            continue
        found.setdefault(way.kind, ModelTotals(unit=request.target, model=way.name))
        mine = {name: own for name, own in stored.items() if request.kinds.get(name, way.kind) == way.kind}
        found[way.kind] = _totals(request.target, way, mine, frozenset(request.wanted))


def _totals(
    unit: str, way: Way, stored: Mapping[str, Sequence[StoredRegime]], family: frozenset[str]
) -> ModelTotals:
    problem: BaseException | None = way.problem
    for recipe in _each(way.recipe):
        try:
            sizes, widths = hints_of(recipe), widths_of(torch.float32)
            trace = measure(recipe, sizes, torch.float32, widths)
            if of_data := _named(trace.data, stored):  # balanced, and the same each time that a line runs
                sizes |= of_data
                trace = measure(recipe, sizes, torch.float32, widths)
        except Exception as error:  # noqa: BLE001 - another way of making inputs may do; the first reason is told
            problem = problem or error
            continue
        return _Tree(trace, recipe, {**sizes, **widths}, stored, family).totals(unit, way.name)
    text = first_line_kept(problem) if problem is not None else "no inputs are known"
    return ModelTotals(unit=unit, model=way.name, problem=" ".join(text.split())[:200])


def _named(sizes: Sums, stored: Mapping[str, Sequence[StoredRegime]]) -> Sums:
    """Those that a regime names."""
    names = frozenset[str]().union(*(one.names for regimes in stored.values() for one in regimes))
    return {name: size for name, size in sizes.items() if name in names}


def _each(recipe: Recipe | None) -> list[Recipe]:
    """A recipe for each way of making inputs."""
    if recipe is None:
        return []
    return [replace(recipe, inputs=one, alternatives=()) for one in (recipe.inputs, *recipe.alternatives)]


@dataclass(frozen=True)
class _Claims:
    """The regimes that speak of one call, and those that give every number of every line of it."""

    speaking: Sequence[StoredRegime]
    fitting: Sequence[StoredRegime]


class _Tree:
    """One measured run and the regimes that speak of its calls."""

    def __init__(
        self,
        trace: Trace,
        recipe: Recipe,
        values: Mapping[str, int],
        stored: Mapping[str, Sequence[StoredRegime]],
        family: frozenset[str],
    ) -> None:
        self.trace, self.values, self.family = trace, values, family
        self.stored = {
            name: [one for one in regimes if one.belongs_to(recipe.scenario) and not one.flips]
            for name, regimes in stored.items()
        }
        self.inside: dict[int, list[CallRecord]] = {}
        for call in trace.calls:
            if not call.failed:
                self.inside.setdefault(call.parent, []).append(call)
        self.calls = self.equal = 0
        self.unequal: dict[str, None] = {}
        self.unclaimed: dict[str, None] = {}

    def totals(self, unit: str, model: str) -> ModelTotals:
        """The three accounts of the outermost call."""
        [root] = self.inside[-1][:1]
        tree = self._sum(root)
        summary = summarise(self.trace, root, {})
        return ModelTotals(
            unit=unit,
            model=model,
            sizes={name: value for name, value in sorted(self.values.items()) if name in self._names(root)},
            calls=self.calls,
            equal=self.equal,
            unequal=tuple(self.unequal),
            unclaimed=tuple(self.unclaimed),
            measured=_numbers(summary.totals),
            formula=self._told(self._claims(root, summary)) or {},
            tree=tree,
        )

    def _names(self, root: CallRecord) -> frozenset[str]:
        regimes = self.stored.get(class_name(root.module), ())
        return frozenset(name for one in regimes for name in one.names)

    def _sum(self, call: CallRecord) -> Sums:
        """The sum over the tree below a call: innermost classes by formula, the rest as measured."""
        name = class_name(call.module)
        within, summary = self._innermost(call), summarise(self.trace, call, {})
        if name in self.stored:
            claims = self._claims(call, summary)
            self._hold(name, claims)
            if not within and (told := self._told(claims)) is not None:
                return told
        below = [self._sum(one) for one in within]
        own = _numbers(summary.totals)
        for one in within:
            part = _numbers(summarise(self.trace, one, {}).totals)
            own = {quantity: own[quantity] - part[quantity] for quantity in own}
        return {quantity: own[quantity] + sum(each[quantity] for each in below) for quantity in own}

    def _innermost(self, call: CallRecord) -> list[CallRecord]:
        """The nearest calls below of classes that have an entry."""
        found: list[CallRecord] = []
        for one in self.inside.get(call.index, []):
            found += [one] if class_name(one.module) in self.stored else self._innermost(one)
        return found

    def _hold(self, name: str, claims: _Claims) -> None:
        if not claims.speaking:
            self.unclaimed[name] = None
            return
        self.calls += 1
        if claims.fitting:
            self.equal += 1
        else:
            self.unequal[name] = None

    def _claims(self, call: CallRecord, measured: Summary) -> _Claims:
        """The regimes that speak of a call.

        What all families use, as an activation, has the sizes of the one model that it was derived in: it
        speaks where it fits.
        """
        name = class_name(call.module)
        regimes = self.stored.get(name, ())
        known = [one for one in regimes if one.names <= self.values.keys() and one.holds(self.values)]
        speaking = [one for one in known if one.speaks_of(call)]
        fitting = [one for one in speaking if not one.differences(measured, self.values)]
        return _Claims(speaking if name in self.family else fitting, fitting)

    def _told(self, claims: _Claims) -> Sums | None:
        """What the entry says of a call: of regimes that claim it the one that fits, None if none does."""
        for one in (*claims.fitting, *claims.speaking):
            told = {name: predict(one.formulas[name], self.values) for name in PER_LINE}
            return {name: value for name, value in told.items() if value is not None}
        return None


def _numbers(cost: Cost) -> Sums:
    return {name: Expr.of(getattr(cost, name)).const_value() for name in PER_LINE}
