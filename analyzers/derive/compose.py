"""The cost of a call as what its own lines cost and which calls it makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.derive.boundary import Boundary, Watch
from forwardbook.analyzers.derive.solve import largest
from forwardbook.analyzers.symbolic.run import SymbolicRun
from forwardbook.analyzers.symbolic.trace import CallRecord
from forwardbook.cost import Cost
from forwardbook.formula import Expr

SUMS: Final = ("flops", "pointwise_ops", "reads", "writes")
"""The quantities of which a call has its own, and those of the calls that it makes, in sum."""


@dataclass(frozen=True)
class Child:
    """A call that a class makes: its record, its boundary or why it has none, the bytes that live then."""

    call: CallRecord
    boundary: Boundary | str
    live: Expr


@dataclass(frozen=True)
class Parts:
    """A call taken apart: the cost of its own operations, its own states of live storage, its calls."""

    own: Cost
    states: tuple[Expr, ...]
    children: tuple[Child, ...]


def parts_of(run: SymbolicRun, watch: Watch, call: CallRecord) -> Parts:
    """A call of a run taken apart."""
    trace = run.trace
    below = [one for one in trace.calls[call.index + 1 :] if one.parent == call.index]
    own = Cost.total(one.cost for one in trace.of(call) if one.call == call.index)
    states, live = _live(run, call, below)
    places = _places(run, watch)
    boundaries = [watch.boundary(places[one.index]) if one.index in places else UNSEEN for one in below]
    children = zip(below, boundaries, live, strict=True)
    return Parts(own, states, tuple(Child(*one) for one in children))


UNSEEN: Final = "its call was not seen"


def _live(
    run: SymbolicRun, call: CallRecord, below: Sequence[CallRecord]
) -> tuple[tuple[Expr, ...], list[Expr]]:
    """The states of live storage outside the calls below, and what lives when each of these begins."""
    live, born = Expr.const(0), dict[int, Expr]()
    states, at = dict[Expr, None](), list[Expr]()
    place = call.events[0]
    for start, stop in [*(one.events for one in below), (call.events[1], call.events[1])]:
        for number in range(place, stop):
            if number == start:
                at.append(live)
            event = run.trace.events[number]
            if event.alive:
                born[event.storage] = Expr.of(event.size)
                live = live + born[event.storage]
            elif event.storage in born:
                live = live - born.pop(event.storage)
            if event.alive and number < start:
                states[live] = None
        if start >= stop:  # nothing is born or dies in this call
            at.append(live)
        place = stop
    return tuple(states), at[: len(below)]


def _places(run: SymbolicRun, watch: Watch) -> dict[int, int]:
    """For the calls in a trace, by number, which calls of the watch they are."""
    known = {key: place for place, key in enumerate(_numbered([module for module, _ in watch.calls]))}
    keys = _numbered([one.module for one in run.trace.calls])
    return {index: known[key] for index, key in enumerate(keys) if key in known}


def _numbered(modules: Sequence[object]) -> list[tuple[int, int]]:
    """Each module with how often it came before."""
    seen: Counter[int] = Counter()
    found = []
    for module in modules:
        found.append((id(module), seen[id(module)]))
        seen[id(module)] += 1
    return found


def composed(parts: Parts, children: Sequence[Mapping[str, Expr]]) -> dict[str, Expr]:
    """Five quantities of a call from its own and those of the calls it makes, in its names.

    The peak is the largest of its own states and, for each call, what lives at it and the peak of the call.
    """
    found = {name: Expr.of(getattr(parts.own, name)) for name in SUMS}
    for child in children:
        found |= {name: found[name] + child[name] for name in SUMS}
    tops = [one.live + child["peak"] for one, child in zip(parts.children, children, strict=True)]
    return found | {"peak": largest([*parts.states, *tops])}
