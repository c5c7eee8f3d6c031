"""A call of a run taken apart: what its own lines cost, and the calls that it makes.

Whether a call below is one of these or counts as own lines of its caller is decided elsewhere: a module that
cannot be called alone has no formula of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from forwardbook.analyzers.derive.solve import contenders
from forwardbook.analyzers.ops import Size
from forwardbook.analyzers.symbolic.summary import (
    LineKey,
    executed,
    forward_code,
    frames_below,
    handed_on,
    read_once,
    views_of_callers,
)
from forwardbook.analyzers.symbolic.trace import CallRecord, OperationRecord, Trace
from forwardbook.cost import Cost
from forwardbook.formula import Expr
from forwardbook.schema import PER_LINE


@dataclass(frozen=True)
class OwnLine:
    """What one line of forward() costs itself, and the operations that it issued, with how often."""

    key: LineKey
    amounts: Mapping[str, Expr]
    operations: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class OwnCost:
    """What the lines of a call cost themselves; see forwardbook.entries.record.Own."""

    amounts: Mapping[str, Expr]
    states: tuple[Expr, ...]
    lines: tuple[OwnLine, ...]


@dataclass(frozen=True)
class CallBelow:
    """A call that a call makes: its record, where it stands in the source, the bytes that live then."""

    call: CallRecord
    key: LineKey
    live: Expr


def taken_apart(
    trace: Trace, call: CallRecord, alone: Callable[[CallRecord], bool]
) -> tuple[OwnCost, list[CallBelow]]:
    """A call's own cost and the calls in it, the outermost of those that are `alone`."""
    owner = _owners(trace, call, alone)
    below = [trace.calls[index] for index, top in owner.items() if index == top != call.index]
    operations = [one for one in trace.of(call) if owner[one.call] == call.index]
    states, live = _live(trace, call, below)
    amounts = _of_cost(Cost.total(one.cost for one in operations)) | _bytes(trace, call, below)
    code = forward_code(call.kind)
    lines = tuple(_lines(trace, call, operations, code))
    places = [_line(trace, call, one, code) for one in below]
    calls = [CallBelow(*one) for one in zip(below, places, live, strict=True)]
    return OwnCost(amounts, states, lines), calls


def amounts_of(trace: Trace, call: CallRecord) -> dict[str, Expr]:
    """What a call cost in all, in some quantities."""
    total, storages = Cost.total(one.cost for one in trace.of(call)), _Storages.of(trace, call)
    return _of_cost(total) | {
        "weights": Expr.sum(Expr.of(trace.weights[key]) for key in storages.weights),
        "intermediates": Expr.sum(map(Expr.of, storages.dead.values())),
    }


def _of_cost(cost: Cost) -> dict[str, Expr]:
    return {name: Expr.of(getattr(cost, name)) for name in PER_LINE}


def _owners(trace: Trace, call: CallRecord, alone: Callable[[CallRecord], bool]) -> dict[int, int]:
    """For a call and each within, by number, whose lines it counts as: that call's, or a call's below."""
    owner = {call.index: call.index}
    for one in trace.calls[call.index + 1 :]:
        if one.parent not in owner:
            break
        above = owner[one.parent]
        owner[one.index] = one.index if above == call.index and not one.failed and alone(one) else above
    return owner


def _bytes(trace: Trace, call: CallRecord, below: Sequence[CallRecord]) -> dict[str, Expr]:
    """Weights, what is read of them, intermediates and boundary of a call, without those of calls below."""
    mine, within = _Storages.of(trace, call), [_Storages.of(trace, one) for one in below]
    weights = Counter(mine.weights.keys())
    dead = Counter(mine.dead.keys())
    for one in within:
        weights.subtract(one.weights.keys())
        dead.subtract(one.dead.keys())
    known = {**mine.dead} | {key: size for one in within for key, size in one.dead.items()}
    read = [times * Expr.of(trace.weights[key]) for key, times in weights.items() if times]
    return {
        "weights": Expr.sum(read),
        "weights_read": _rows(mine) - Expr.sum(map(_rows, within)),
        "intermediates": Expr.sum(times * Expr.of(known[key]) for key, times in dead.items() if times),
        "boundary": mine.boundary,
    }


def _rows(one: _Storages) -> Expr:
    return Expr.sum(Expr.of(size) for size in one.weights.values())


@dataclass(frozen=True)
class _Storages:
    """What a call does with storages: by weight the bytes read, what is born and dies, what crosses."""

    weights: Mapping[int, Size]
    dead: Mapping[int, Size]
    boundary: Expr

    @staticmethod
    def of(trace: Trace, call: CallRecord) -> _Storages:
        operations = trace.of(call)
        born: dict[int, Size] = {}
        died: set[int] = set()
        for event in trace.events[slice(*call.events)]:
            if event.alive:
                born[event.storage] = event.size
            elif event.storage in born:
                died.add(event.storage)
        read = views_of_callers((one.touched for one in operations), born)
        written = views_of_callers((one.rewritten for one in operations), born)
        mine = _weights_of(trace, call)
        weights = {key: read_once({key: views}, trace) for key, views in read.items() if key in mine}
        others = {key: views for key, views in read.items() if key not in mine}
        alive = {key: size for key, size in born.items() if key not in died}
        crossing = read_once(others, trace) + read_once(written, trace)
        new = Expr.sum(Expr.of(size) for size in alive.values()) - Expr.of(
            handed_on(trace, call, alive, born)
        )
        dead = {key: size for key, size in born.items() if key in died}
        return _Storages(weights, dead, Expr.of(crossing) + new)


def _weights_of(trace: Trace, call: CallRecord) -> set[int]:
    """The storages of a module's own parameters and buffers: others are handed to it like any input."""
    found = (*call.module.parameters(), *call.module.buffers())
    return {trace.tensors[id(one)] for one in found if id(one) in trace.tensors}


def _live(trace: Trace, call: CallRecord, below: Sequence[CallRecord]) -> tuple[tuple[Expr, ...], list[Expr]]:
    """The states of live storage outside the calls below, and what lives when each of these begins.

    A state that is no larger than what lives when a call begins is left out: the peak within is no smaller.
    """
    live, born = Expr.const(0), dict[int, Expr]()
    states, at = dict[Expr, None](), list[Expr]()
    place = call.events[0]
    for start, stop in [*(one.events for one in below), (call.events[1], call.events[1])]:
        for number in range(place, stop):
            if number == start:
                at.append(live)
            event = trace.events[number]
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
    lives = at[: len(below)]
    least = set(lives)  # what lives when a call begins lives within it
    return tuple(one for one in contenders([*states, *lives]) if one not in least), lives


def _lines(
    trace: Trace, call: CallRecord, operations: Sequence[OperationRecord], code: tuple[str, str]
) -> Iterable[OwnLine]:
    costs: dict[LineKey, Cost] = {}
    names: dict[LineKey, Counter[str]] = {}
    for one in operations:
        place, _ = executed(frames_below(trace, call, one)[0], code)
        key = (place.file, place.line, place.end_line)
        costs[key] = costs.get(key, Cost.zero()) + one.cost
        names.setdefault(key, Counter())[one.name] += 1
    for key in sorted(costs):
        yield OwnLine(key, _of_cost(costs[key]), tuple(sorted(names[key].items())))


def _line(trace: Trace, call: CallRecord, below: CallRecord, code: tuple[str, str]) -> LineKey:
    """The lines of a call's forward() from which another is called, directly or through what is not alone."""
    one = below
    while one.parent != call.index:
        one = trace.calls[one.parent]
    place, _ = executed(one.site, code)
    return place.file, place.line, place.end_line
