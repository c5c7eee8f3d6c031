"""A run of a class alone in; its own cost and its calls, equal ones together, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forwardbook.analyzers.derive.boundary import Boundary, Watch
from forwardbook.analyzers.derive.own import OwnCost, amounts_of, taken_apart
from forwardbook.analyzers.derive.solve import largest
from forwardbook.analyzers.symbolic.run import SymbolicRun
from forwardbook.analyzers.symbolic.summary import LineKey
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace, general
from forwardbook.formula import Expr


@dataclass(frozen=True)
class Callee:
    """A class that is called in some way, and what its names are in those of the caller."""

    key: str
    bindings: Mapping[str, Expr]


@dataclass(frozen=True)
class CallGroup:
    """Calls from one line that are alike: how many, and the most bytes that live when one begins."""

    line: int
    attribute: str
    callee: Callee
    times: Expr
    live: Expr
    key: LineKey | None = None
    """Where it stands in the source."""

    @property
    def place(self) -> tuple[int, str, str]:
        """From which line which submodule is called, and in which way."""
        return self.line, self.attribute, self.callee.key


@dataclass(frozen=True)
class Breakdown:
    """What a call costs itself, and the calls that it makes."""

    own: OwnCost
    calls: tuple[CallGroup, ...]


Lookup = Callable[[Boundary, Mapping[str, Expr]], Callee | None]
"""Which way of calling a class a boundary is, of which a call cost so much; None where it has no formulas."""


def breakdown(run: SymbolicRun, watch: Watch, lookup: Lookup) -> Breakdown:
    """The outermost call of a run taken apart."""
    places = watched_places(run.trace, watch)
    callees: dict[int, Callee] = {}

    def alone(call: CallRecord) -> bool:
        boundary = watch.boundary(places[call.index]) if call.index in places else ""
        callee = None if isinstance(boundary, str) else lookup(boundary, amounts_of(run.trace, call))
        if callee is None:
            return False
        callees[call.index] = callee
        return True

    top = run.trace.calls[0]
    own, below = taken_apart(run.trace, top, alone)
    prefix = f"{top.path}." if top.path else ""
    each = [
        CallGroup(
            one.key[1],
            general(f".{one.call.path.removeprefix(prefix)}")[1:],
            callees[one.call.index],
            Expr.const(1),
            one.live,
            one.key,
        )
        for one in below
    ]
    return Breakdown(own, _grouped(each))


def _grouped(each: Sequence[CallGroup]) -> tuple[CallGroup, ...]:
    groups: dict[object, list[CallGroup]] = {}
    for one in each:
        groups.setdefault((one.place, *one.callee.bindings.items()), []).append(one)
    return tuple(
        CallGroup(
            same[0].line,
            same[0].attribute,
            same[0].callee,
            Expr.const(len(same)),
            largest([one.live for one in same]),
            same[0].key,
        )
        for same in groups.values()
    )


def watched_places(trace: Trace, watch: Watch) -> dict[int, int]:
    """For the calls in a trace, by number, which calls of the watch they are."""
    known = {key: place for place, key in enumerate(_numbered([module for module, _ in watch.calls]))}
    keys = _numbered([one.module for one in trace.calls])
    return {index: known[key] for index, key in enumerate(keys) if key in known}


def _numbered(modules: Sequence[object]) -> list[tuple[int, int]]:
    """Each module with how often it came before."""
    seen: Counter[int] = Counter()
    found = []
    for module in modules:
        found.append((id(module), seen[id(module)]))
        seen[id(module)] += 1
    return found
