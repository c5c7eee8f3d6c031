"""The events of torch's profiler in; storages of one call, from birth to death, and its operations out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import torch
from torch._C._profiler import _EventType, _ProfilerEvent

NUMBERS: Final = (1, 8, 16)
"""Bytes of a Python number as the tensor that it becomes where it meets one: a truth, real, complex."""
_STATE: Final = torch.get_rng_state().nbytes
_CAST: Final = "aten::to"
_FRAMES: Final = (_EventType.PyCall, _EventType.PyCCall)

Line = tuple[str, str, int]  # file as the profiler shortens it, function, line that was running


@dataclass(frozen=True, slots=True)
class Span:
    """One operation, as long as it ran."""

    name: str
    start: int
    end: int

    def holds(self, when: int | None) -> bool:
        """Whether it ran then."""
        return when is not None and self.start <= when <= self.end


@dataclass(frozen=True, slots=True)
class Life:
    """A storage: its bytes, birth and death, and the operations and lines it was born in, outermost first."""

    size: int
    born: int
    died: int | None
    within: tuple[Span, ...] = ()
    frames: tuple[Line, ...] = ()

    def ended(self, when: int) -> Life:
        """The same, dead by then."""
        return replace(self, died=when)


@dataclass(frozen=True, slots=True)
class Allocations:
    """What was allocated in one call, and the operations that ran in it; both in their order."""

    lives: tuple[Life, ...]
    operations: tuple[Span, ...]

    @property
    def numbers(self) -> frozenset[Life]:
        """Python numbers that became tensors while one operation met them; other devices have none."""
        starts = [span.start for span in self.operations]
        found: set[Life] = set()
        for one in self.lives:
            if one.size not in NUMBERS or one.died is None:
                continue
            if one.within and not one.within[-1].holds(one.died):
                continue
            during = self.operations[bisect_left(starts, one.born) : bisect_left(starts, one.died)]
            met = _outermost(during)
            if len(met) == 1 and met[0].end <= one.died:
                found.add(one)
        return frozenset(found)

    @property
    def generator_states(self) -> frozenset[Life]:
        """States of the host's generator, which checkpointing keeps: no operation makes them."""
        return frozenset(one for one in self.lives if one.size == _STATE and not one.within)

    def casts(self, names: Collection[str]) -> frozenset[Life]:
        """What operations of these names made of another type for themselves, and released again."""
        return frozenset(one for one in self.lives if _is_cast(one, names))

    def workspaces(self, spans: Collection[Span]) -> frozenset[Life]:
        """What was born and died within one of these operations."""
        every = frozenset(spans)
        return frozenset(
            one for one in self.lives if any(span in every and span.holds(one.died) for span in one.within)
        )

    def spans(self, names: tuple[str, ...]) -> list[Span]:
        """The operations of these names, those inside another of them left out.

        A name that ends in `*` is of all that begin so.
        """
        begin = tuple(name[:-1] for name in names if name.endswith("*"))
        return _outermost([one for one in self.operations if one.name in names or one.name.startswith(begin)])

    def without(self, dropped: Iterable[Life]) -> Allocations:
        """The same with some storages never born."""
        away = set(dropped)
        return replace(self, lives=tuple(one for one in self.lives if one not in away))

    def resized(self, life: Life, size: int) -> Allocations:
        """The same with a storage of another size."""
        return replace(self, lives=tuple(replace(x, size=size) if x is life else x for x in self.lives))

    def peak(self) -> int:
        """The largest sum of bytes alive at once."""
        return max((live for _, live in states(self.lives)), default=0)


def _outermost(spans: Sequence[Span]) -> list[Span]:
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if not (found and found[-1].end >= span.end):
            found.append(span)
    return found


def _is_cast(life: Life, names: Collection[str]) -> bool:
    by = next((index for index, span in enumerate(life.within) if span.name in names), None)
    if by is None or not life.within[by].holds(life.died):
        return False
    return any(span.name == _CAST for span in life.within[by + 1 :])


def states(lives: Iterable[Life]) -> Iterator[tuple[Life, int]]:
    """Each storage at its birth, and how many bytes are alive then."""
    changes: list[tuple[int, int, Life | None, int]] = []
    for one in lives:
        changes.append((one.born, 1, one, one.size))
        if one.died is not None:
            changes.append((one.died, 0, None, -one.size))
    live = 0
    for _, _, born, change in sorted(changes, key=lambda each: each[:2]):
        live += change
        if born is not None:
            yield born, live


def allocations_in(events: Iterable[_ProfilerEvent], marks: Sequence[str]) -> list[Allocations]:
    """Those of each call that ran within an operation of such a name; older memory is of none."""
    walk = list(_walk(events))
    around = {event.name: event for event, _ in walk if event.name in marks}
    return [_within(walk, around[mark].start_time_ns, around[mark].end_time_ns) for mark in marks]


def _within(walk: Sequence[_Placed], start: int, end: int) -> Allocations:
    inside = [(event, above) for event, above in walk if start < event.start_time_ns <= end]
    operations = [_span(event) for event, _ in inside if _is_operation(event)]
    lives: list[Life] = []
    alive: dict[int, int] = {}
    changes = [(event, above) for event, above in inside if event.tag == _EventType.Allocation]
    for event, above in sorted(changes, key=lambda one: one[0].start_time_ns):
        when, fields = event.start_time_ns, cast("Any", event.extra_fields)
        if fields.alloc_size > 0:
            alive[fields.ptr] = len(lives)
            own = [each for each in above if each.start_time_ns > start]
            within = tuple(_span(each) for each in own if _is_operation(each))
            lives.append(Life(fields.alloc_size, when, None, within, tuple(_frames(own))))
        elif (index := alive.pop(fields.ptr, None)) is not None:
            lives[index] = lives[index].ended(when)
    return Allocations(tuple(lives), tuple(sorted(operations, key=lambda one: (one.start, -one.end))))


_Placed = tuple[_ProfilerEvent, tuple[_ProfilerEvent, ...]]


def _walk(roots: Iterable[_ProfilerEvent]) -> Iterator[_Placed]:
    """Every event with those that it lies in, outermost first."""
    waiting: list[_Placed] = [(root, ()) for root in roots]
    while waiting:
        event, above = waiting.pop()
        yield event, above
        waiting += [(child, (*above, event)) for child in reversed(event.children)]


def _is_operation(event: _ProfilerEvent) -> bool:
    return event.tag == _EventType.TorchOp and "::" in event.name


def _span(event: _ProfilerEvent) -> Span:
    return Span(event.name, event.start_time_ns, event.end_time_ns)


def _frames(above: Iterable[_ProfilerEvent]) -> Iterator[Line]:
    """The lines of Python that were running, outermost first; none where frames were not recorded."""
    for event in above:
        if event.tag in _FRAMES:
            caller = event.extra_fields.caller  # type: ignore[union-attr]
            yield caller.file_name, caller.function_name, caller.line_number
