"""A recorded call, or its allocations on the CPU, in; storages with the lines they are born at, out."""

from __future__ import annotations

from collections.abc import Mapping

from forwardbook.analyzers.reader import line_map
from forwardbook.analyzers.symbolic.summary import executed, forward_code, frames_below
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace
from forwardbook.formula import Expr
from forwardbook.profiling.allocations import Allocations, Life, Line, Span, states


def storages_of(trace: Trace, call: CallRecord) -> Allocations:
    """The storages of a measured call, each born in one operation at one line of the class's forward()."""
    code = forward_code(call.kind)
    operations = trace.of(call)
    spans = [Span(one.name, index, index) for index, one in enumerate(operations)]
    lives: list[Life] = []
    alive: dict[int, int] = {}
    for when, event in enumerate(trace.events[slice(*call.events)]):
        if event.alive:
            index = event.operation - call.start
            place = executed(frames_below(trace, call, operations[index])[0], code)[0]
            alive[event.storage] = len(lives)
            size = Expr.of(event.size).const_value()
            line = (place.file, place.function, place.line)
            lives.append(Life(size, when, None, (spans[index],), (line,)))
        elif (at := alive.pop(event.storage, None)) is not None:
            lives[at] = lives[at].ended(when)
    return Allocations(tuple(lives), tuple(spans))


def first_apart(ours: Mapping[int, int], theirs: Mapping[int, int]) -> int | None:
    """The first line of which the two say different amounts; None where no line of theirs is known."""
    if not any(theirs):
        return None
    return next((x for x in dict.fromkeys((*ours, *theirs)) if ours.get(x, 0) != theirs.get(x, 0)), None)


def line_of_peak(ours: Allocations) -> tuple[str, int]:
    """File and line at which most is alive by our account; nothing of a call that makes no storage."""
    live = [(bytes_alive, life.frames[0]) for life, bytes_alive in states(ours.lives)]
    if not live:
        return "", 0
    file, _, line = max(live, key=lambda one: one[0])[1]
    return file, statement_at(file, line)


def alive_by_line(of: Allocations, forward: tuple[str, str]) -> dict[int, int]:
    """The most bytes alive while each statement of a function ran, in the order in which they ran first.

    `forward` is its file and its name.
    """
    found: dict[int, int] = {}
    for life, live in states(of.lives):
        line = next((one[2] for one in life.frames if _is_of(one, forward)), 0)
        if line:
            statement = statement_at(forward[0], line)
            found[statement] = max(found.get(statement, 0), live)
    return found


def _is_of(line: Line, forward: tuple[str, str]) -> bool:
    """Whether a line is of a function; the profiler leaves out how the paths of its files begin."""
    file, function, _ = line
    return forward[0].endswith(file) and function in (forward[1], forward[1].rpartition(".")[2])


def statement_at(file: str, line: int) -> int:
    """The first line of the statement that a line is of."""
    span = line_map(file).statement(line) if line else None
    return span.line if span is not None else line
