"""Sums a recorded call: totals, bytes at its boundary, peak of live storage, and the cost of every line."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import cast

import torch

from forwardbook.analyzers.ops import Size
from forwardbook.analyzers.symbolic.peaks import contenders
from forwardbook.analyzers.symbolic.trace import CallRecord, OperationRecord, Place, Trace
from forwardbook.cost import Cost
from forwardbook.formula import Expr

LineKey = tuple[str, int, int]  # file, first line, last line of the expression


@dataclass(frozen=True, slots=True)
class LineSummary:
    """What one line of the executed forward() costs, helpers and submodules beneath it included."""

    key: LineKey
    cost: Cost
    operations: tuple[tuple[str, int], ...]
    chain: tuple[str, ...]
    submodules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """All quantities of one call; `peaks` are the states of live storage that may be the largest, of all."""

    totals: Cost
    weights: Size
    boundary: Size
    intermediates: Size
    peaks: tuple[Size, ...]
    lines: tuple[LineSummary, ...]
    marks: int
    states: tuple[Size, ...] = field(default=(), compare=False, repr=False)
    """All that were seen in a run."""

    def quantities(self) -> dict[str, Size]:
        """Every quantity by name; the peak as one expression or number."""
        return {
            "flops": self.totals.flops,  # type: ignore[dict-item]
            "pointwise_ops": self.totals.pointwise_ops,  # type: ignore[dict-item]
            "reads": self.totals.reads,  # type: ignore[dict-item]
            "writes": self.totals.writes,  # type: ignore[dict-item]
            "weights": self.weights,
            "boundary": self.boundary,
            "intermediates": self.intermediates,
            "peak": largest(self.peaks),
        }

    def symbols(self) -> frozenset[str]:
        """The names in any of the quantities."""
        return frozenset().union(*(Expr.of(size).symbols() for size in self.quantities().values()))


def largest(sizes: Sequence[Size]) -> Size:
    """The maximum of sizes; of none, 0."""
    if all(isinstance(s, int) for s in sizes):
        return max(sizes, default=0)  # type: ignore[type-var]
    return Expr.maximum(*(Expr.of(s) for s in sizes))


def smallest(a: Size, b: Size) -> Size:
    """The minimum of two sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return Expr.minimum(Expr.of(a), Expr.of(b))


def summarise(trace: Trace, call: CallRecord, hints: Mapping[str, int]) -> Summary:
    """The quantities of `call`; `hints`, the numbers of the symbols of this run, order peak candidates."""
    operations = trace.of(call)
    born, died, states = _storages(trace, call)
    alive = {key: size for key, size in born.items() if key not in died}
    read = views_of_callers((o.touched for o in operations), born)
    written = views_of_callers((o.rewritten for o in operations), born)
    return Summary(
        totals=Cost.total(o.cost for o in operations),
        weights=_sum(trace.weights[key] for key in read if key in trace.weights),
        boundary=read_once(read, trace)
        + read_once(written, trace)
        + _sum(alive.values())
        - handed_on(trace, call, alive, born),
        intermediates=_sum(born[key] for key in died),
        peaks=_peaks(states, hints),
        lines=_lines(trace, call),
        marks=marks_of(trace, call),
        states=states,
    )


def marks_of(trace: Trace, call: CallRecord) -> int:
    """What the sizes of the operations of a call were asked on the way, as bits."""
    marks = 0
    for operation in trace.of(call):
        marks |= operation.marks
    return marks


def states_of(trace: Trace, call: CallRecord) -> tuple[Expr, ...]:
    """All states of live storage of a call, none of them dropped, as they came first."""
    return tuple(dict.fromkeys(map(Expr.of, _storages(trace, call)[2])))


def _is_view(view: object) -> bool:
    """Whether bytes were read as a view, never more than its storage; a gather may read a row often."""
    return isinstance(view, tuple) and len(view) > 1 and isinstance(view[1], int)


def _are_apart(views: Iterable[object]) -> bool:
    """Whether all are views and none has an element of another, as the matrices of some experts of many."""
    spans: list[tuple[int, int]] = []
    for view in views:
        if not _is_view(view):
            return False
        start, region = cast("tuple[object, int, Sequence[tuple[int, int]]]", view)[1:]
        spans.append((start, start + 1 + sum((size - 1) * stride for stride, size in region)))
    spans.sort()
    return all(stop <= start for (_, stop), (start, _) in pairwise(spans))


def _sum(sizes: object) -> Size:
    result: Size = 0
    for size in sizes:  # type: ignore[attr-defined]
        result = result + size
    return result


def views_of_callers(
    operations: Iterable[tuple[tuple[int, object, Size], ...]], born: Container[int]
) -> dict[int, dict[object, Size]]:
    """Bytes of each view of the storages that a call was given; those of equal views once."""
    found: dict[int, dict[object, Size]] = {}
    for views in operations:
        for storage, view, size in views:
            if storage not in born:
                found.setdefault(storage, {}).setdefault(view, size)
    return found


def read_once(found: Mapping[int, Mapping[object, Size]], trace: Trace) -> Size:
    """Bytes of views of storages; where some may overlap, no more than their storage has."""
    total: Size = 0
    for key, views in found.items():
        size, capacity = _sum(views.values()), trace.capacity.get(key)
        total = total + (size if capacity is None or _are_apart(views) else smallest(size, capacity))
    return total


def handed_on(trace: Trace, call: CallRecord, alive: Iterable[int], born: Mapping[int, Size]) -> Size:
    """Bytes of new states that are what the caller handed over: an engine leaves them where they are."""
    return _sum(_kept_as_it_was(trace, key, born) for key in alive if key in call.kept)


def _kept_as_it_was(trace: Trace, key: int, born: Mapping[int, Size]) -> Size:
    """Bytes of a grown state that are what the caller handed over: an engine leaves them where they are."""
    found: Size = 0
    for source, size in trace.copied.get(key, ()):
        if source not in born:
            found = found + size
        elif size == born[source]:
            found = found + _kept_as_it_was(trace, source, born)
    return found


def _storages(trace: Trace, call: CallRecord) -> tuple[dict[int, Size], set[int], tuple[Size, ...]]:
    """Storages born in the call, those of them that died in it, and the states of live storage."""
    born: dict[int, Size] = {}
    died: set[int] = set()
    live: Size = 0
    states: dict[Size, None] = {}
    rising = False
    for event in trace.events[slice(*call.events)]:
        if event.alive:
            born[event.storage] = event.size
            live = live + event.size
            rising = True
        elif event.storage in born and event.storage not in died:
            if rising:
                states.setdefault(live)
            died.add(event.storage)
            live = live - event.size
            rising = False
    if rising or not states:
        states.setdefault(live)
    return born, died, tuple(states)


def _peaks(states: Sequence[Size], hints: Mapping[str, int]) -> tuple[Size, ...]:
    """The states that may be the peak."""
    if all(isinstance(s, int) for s in states):
        return (max(states),)  # type: ignore[type-var]
    found = contenders([Expr.of(s) for s in states], hints)
    return tuple(sorted(found, key=lambda s: -s.evaluate(dict(hints))))


def _lines(trace: Trace, call: CallRecord) -> tuple[LineSummary, ...]:
    code = forward_code(type(call.module))
    costs: dict[LineKey, Cost] = {}
    names: dict[LineKey, Counter[str]] = {}
    chains: dict[LineKey, dict[str, None]] = {}
    submodules: dict[LineKey, dict[int, None]] = {}
    for operation in trace.of(call):
        frames, child = frames_below(trace, call, operation)
        place, beneath = executed(frames, code)
        key = (place.file, place.line, place.end_line)
        costs[key] = costs.get(key, Cost.zero()) + operation.cost
        names.setdefault(key, Counter())[operation.name] += 1
        for frame in beneath:
            chains.setdefault(key, {})[f"{frame.function}:{frame.line}"] = None
        if child >= 0:
            submodules.setdefault(key, {})[child] = None
    return tuple(
        LineSummary(
            key,
            costs[key],
            tuple(sorted(names[key].items())),
            tuple(chains.get(key, ())),
            tuple(submodules.get(key, ())),
        )
        for key in sorted(costs)
    )


def frames_below(
    trace: Trace, call: CallRecord, operation: OperationRecord
) -> tuple[tuple[Place, ...], int]:
    """The frames of `call` itself beneath which an operation ran, and the call of a submodule, else -1."""
    frames, child = operation.frames, -1
    for index in trace.ancestors(operation.call):
        if index == call.index:
            break
        frames, child = trace.calls[index].site, index
    return frames, child


def forward_code(kind: type[torch.nn.Module]) -> tuple[str, str]:
    """File and qualified name of the forward() written in the class, decorators taken off."""
    forward = getattr(kind, "forward", None)
    if forward is None:  # a scripted class has none in Python
        return "", ""
    forward = inspect.unwrap(forward)
    code = getattr(forward, "__code__", None)
    if code is not None:
        return code.co_filename, code.co_qualname
    return getattr(forward, "location", ("", ""))  # of a function that is interpreted


_INLINE = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


def executed(frames: tuple[Place, ...], forward: tuple[str, str]) -> tuple[Place, tuple[Place, ...]]:
    """The frame whose lines stand for the call, and the helper frames beneath it.

    That is the class's own forward() where it ran; where a decorator swapped it, the outermost that did. A
    comprehension is lines of the function that it stands in, which has a frame of its own up to Python 3.11.
    """
    for index, frame in enumerate(frames):
        if (frame.file, frame.function) == forward:
            while frames[index + 1 :] and frames[index + 1].function.endswith(_INLINE):
                index += 1  # noqa: PLW2901 - the loop ends here
            return frames[index], frames[index + 1 :]
    if frames:
        return frames[0], frames[1:]
    return Place(forward[0], forward[1], 0, 0, 0, 0), ()


def short_file(file: str) -> str:
    """A file relative to the folder of its package, so that no machine's path is stored."""
    parts = Path(file).parts
    for marker in ("site-packages", "dist-packages", "src"):
        if marker in parts:
            return "/".join(parts[len(parts) - parts[::-1].index(marker) :])
    return Path(file).name
