"""One call of a module on the CPU: what torch's profiler saw allocated and released, replayed to its peak."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch
from torch import nn
from torch._C._profiler import _EventType, _ProfilerEvent
from torch.profiler import ProfilerActivity, profile, record_function

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.instances.tensors import PlainMaker
from forwardbook.analyzers.symbolic.bridges import no_initialisation
from forwardbook.analyzers.symbolic.run import NumberSizes, default_dtype
from forwardbook.errors import ForwardbookError
from forwardbook.profiling.hooks import watched

PARAMETERS = 30_000_000  # above it building the model with real weights takes longer than the answer is worth
_MARK = "forwardbook: the watched call"

Allocation = tuple[int, int, int]  # when (ns), address, bytes (negative: released)


class TooLarge(ForwardbookError):
    """A model that would not be built with real weights."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"building the model on the CPU: it has {count:,} parameters, more than {PARAMETERS:,}"
        )


def peak_of_call(
    recipe: Recipe,
    sizes: Mapping[str, int],
    dtype: torch.dtype,
    path: str,
    occurrence: int,
    kernels: tuple[str, ...] = (),
) -> int:
    """The largest sum of bytes that were allocated in the call and not yet released.

    What an operation whose name begins with one of `kernels` allocates and releases itself is left out.

    Raises:
        TooLarge: the model has too many parameters.
        Exception: whatever the module raises when it is built or called.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler prints when it starts and stops
    chosen = NumberSizes(sizes)
    with default_dtype(dtype):
        with torch.device("meta"), no_initialisation():
            count = _parameters(recipe.build(chosen))
        if count > PARAMETERS:
            raise TooLarge(count)
        with torch.no_grad(), torch.device("cpu"):
            root = recipe.build(chosen).eval()
            args, kwargs = recipe.inputs(chosen, root, PlainMaker("cpu"))
        mark = record_function(_MARK)
        with (
            torch.no_grad(),
            watched(root, path, occurrence, lambda: _open(mark), lambda: mark.__exit__(None, None, None)),
            profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled,
        ):
            root(*args, **kwargs)
    assert profiled.profiler is not None and profiled.profiler.kineto_results is not None
    events = list(_all(profiled.profiler.kineto_results.experimental_event_tree()))
    mark_event = next(e for e in events if e.name == _MARK)
    spans = [(e.start_time_ns, e.end_time_ns) for e in events if kernels and e.name.startswith(kernels)]
    return replayed(_allocations(events, mark_event.start_time_ns, mark_event.end_time_ns), spans)


def _open(mark: record_function) -> None:
    mark.__enter__()


def _parameters(root: nn.Module) -> int:
    return sum(p.numel() for p in root.parameters())


def _all(events: Iterable[_ProfilerEvent]) -> Iterator[_ProfilerEvent]:
    waiting = list(events)
    while waiting:
        event = waiting.pop()
        yield event
        waiting += event.children


def _allocations(events: Iterable[_ProfilerEvent], start: int, end: int) -> list[Allocation]:
    found: list[Allocation] = []
    for event in events:
        if event.tag == _EventType.Allocation and start <= event.start_time_ns <= end:
            fields = event.extra_fields
            found.append((event.start_time_ns, fields.ptr, fields.alloc_size))  # type: ignore[union-attr]
    return sorted(found, key=lambda one: one[0])


def replayed(allocations: Iterable[Allocation], spans: Sequence[tuple[int, int]] = ()) -> int:
    """The peak of what these allocations keep alive; releases of older memory do not count.

    Nor does memory that is allocated and released within one of the spans of time.
    """
    alive: dict[int, tuple[int, int]] = {}
    changes: list[tuple[int, int]] = []
    for when, address, size in allocations:
        if size > 0:
            alive[address] = (when, size)
        elif address in alive:
            born, held = alive.pop(address)
            if not any(start <= born and when <= end for start, end in spans):
                changes += [(born, held), (when, -held)]
    changes += alive.values()
    now = peak = 0
    for _, change in sorted(changes, key=lambda one: one[0]):
        now += change
        peak = max(peak, now)
    return peak
