"""Ways to call classes: each is derived alone once, with all that it calls, and proved by measured runs."""

from __future__ import annotations

import inspect
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.breakdown import Breakdown, Callee, breakdown
from forwardbook.analyzers.derive.derivation import Settled, key_of, settle
from forwardbook.analyzers.derive.local import Local
from forwardbook.analyzers.derive.names import Names, Read, names_of
from forwardbook.analyzers.instances.recipe import full_name
from forwardbook.entries.evaluate import Evaluator
from forwardbook.entries.record import Entry, Proof, Regime
from forwardbook.formula import Expr
from forwardbook.pipeline.composed.measured import LOW
from forwardbook.pipeline.composed.records import FULL, Draft, names_of_record, record
from forwardbook.pipeline.composed.trial import Trial, Unproved
from forwardbook.profiling.raised import first_line_kept


@dataclass(frozen=True)
class Way:
    """One way to call a class: the names that a caller says, or why it has no formulas."""

    key: str
    local: Local | None = None
    names: frozenset[str] = frozenset()
    reason: str = ""


@dataclass
class Ways:
    """All ways that were met so far; `entries` holds a record of each, by which callers are evaluated."""

    known: dict[object, Way] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    seed: int = 7

    def __post_init__(self) -> None:
        self.evaluator = Evaluator(self.entries)
        self._numbers: dict[str, int] = {}
        self._alike: dict[tuple[str, str], Way] = {}

    def lookup(self, boundary: Boundary, read: Read) -> Callee | None:
        """The way that a boundary is, and its names in the caller's; None where it has no formulas."""
        names, sizes = names_of(boundary, read)
        way = self.way(boundary, read, sizes)
        if way.local is None or way.reason:
            return None
        return Callee(way.key, _bindings(way, way.local, names))

    def way(self, boundary: Boundary, read: Read, sizes: Mapping[str, Expr]) -> Way:
        """The way that a boundary is, derived where it is new."""
        place = key_of(boundary, sizes)
        if place not in self.known:
            kind = full_name(boundary.kind)
            number = self._numbers[kind] = self._numbers.get(kind, -1) + 1
            try:
                self.known[place] = self._derived(f"{kind}~{number}", boundary, read)
            except Exception as error:  # noqa: BLE001 - analysed code may raise anything
                reason = f"running it alone raised {first_line_kept(error)}"
                self.known[place] = Way(f"{kind}~{number}", reason=reason)
        return self.known[place]

    def _derived(self, key: str, boundary: Boundary, read: Read) -> Way:
        settled = settle(boundary, read, LOW)
        entry = _stub(boundary, settled)
        trial = Trial(key, entry, settled, self.evaluator, self._take_apart, random.Random(self.seed))
        first = record(settled.local, trial.begin())
        alike = entry.full_class_name, first.model_dump_json()
        if alike in self._alike:  # another layer of the same, or a choice that changes no cost
            other = self._alike[alike]
            return Way(other.key, settled.local, other.names, other.reason)
        reason = ""
        try:
            trial.run()
        except Unproved as error:
            reason = str(error)
        regimes = tuple(_regimes(trial, reason))
        names = frozenset[str]().union(*(_all_symbols(one) for one in trial.drafts))
        least = {one.name: one.least for one in trial.entry.names}
        told = tuple(
            one.model_copy(update={"least": least.get(one.name)})
            for one in names_of_record(settled.local, names, trial.counts)
        )
        done = entry.model_copy(
            update={
                "regimes": regimes,
                "names": told,
                "verdict": "unproved" if reason else "exact",
                "reason": reason,
            }
        )
        self.entries[key] = done
        way = self._alike[alike] = Way(key, settled.local, names, reason)
        return way

    def _take_apart(self, settled: Settled) -> Breakdown:
        read = settled.run.expressions.of
        return breakdown(settled.run, settled.watch, lambda boundary: self.lookup(boundary, read))


def _bindings(way: Way, local: Local, names: Names) -> dict[str, Expr]:
    """What a callee's names are in its caller's; widths and what data decides are called the same in both."""
    callers = local.bindings(names.callers)
    return {name: callers.get(name, Expr.symbol(name)) for name in sorted(way.names)}


def _all_symbols(draft: Draft) -> frozenset[str]:
    own = draft.breakdown.own
    values = [*own.amounts.values(), *own.states]
    for call in draft.breakdown.calls:
        values += [call.times, call.live, *call.callee.bindings.values()]
    found = frozenset[str]().union(*(one.symbols() for one in values))
    return found.union(*(one.symbols() for one in draft.all_conditions()))


def _regimes(trial: Trial, reason: str) -> list[Regime]:
    found = []
    for draft in trial.drafts:
        points = tuple(point for one, point in trial.points if one.region == draft.region)
        proof = Proof(verdict="unproved" if reason else "exact", reason=reason, points=points[:4])
        here = ", ".join(_said(name) for name in sorted(draft.region))
        found.append(record(trial.settled.local, draft, here or "default", proof))
    return found


def _said(name: str) -> str:
    return name if name == FULL else f"{name} = 1"


def _stub(boundary: Boundary, settled: Settled) -> Entry:
    kind = boundary.kind
    try:
        lines, first = inspect.getsourcelines(kind)
    except (OSError, TypeError):
        lines, first = [""], 1
    module = kind.__module__
    names = names_of_record(settled.local, settled.hints, ())
    return Entry(
        full_class_name=full_name(kind),
        library=module.partition(".")[0],
        file=module.replace(".", "/") + ".py",
        line_start=first,
        line_end=first + len(lines) - 1,
        source_hash="",
        engine="",
        names=names,
    )
