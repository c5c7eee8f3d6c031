"""A workload in; the largest sum of live bytes beyond what each call was given, out."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile, record_function

from forwardbook.profiling.allocated import replayed
from forwardbook.profiling.judges import WORKSPACES
from forwardbook.profiling.passes.workload import CallSeen, Workload, synchronise, watching

_MARK = "forwardbook: call "
# Products of a processor in narrow formats: oneDNN reorders their weights into its own layout, then drops it.
_PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::_grouped_mm")


@dataclass(frozen=True)
class PeakCall:
    """One call: bytes at the worst moment, with and without what kernels allocate for themselves."""

    call: CallSeen
    peak: int
    with_workspaces: int
    method: str


@dataclass
class _Marks:
    found: list[CallSeen] = field(default_factory=list)
    open: list[Any] = field(default_factory=list)

    def before(self, call: CallSeen) -> None:
        self.found.append(call)
        mark = record_function(f"{_MARK}{call.index}")
        mark.__enter__()
        self.open.append(mark)

    def after(self, call: CallSeen) -> None:
        self.open.pop().__exit__(None, None, None)


@dataclass
class _Requested:
    """What the allocator of CUDA was asked for at most, which is not rounded up to blocks."""

    device: torch.device
    found: list[PeakCall] = field(default_factory=list)
    start: int = 0

    def before(self, call: CallSeen) -> None:
        synchronise(self.device)
        torch.cuda.reset_peak_memory_stats(self.device)
        self.start = int(torch.cuda.memory_stats(self.device)["requested_bytes.all.current"])

    def after(self, call: CallSeen) -> None:
        synchronise(self.device)
        peak = int(torch.cuda.memory_stats(self.device)["requested_bytes.all.peak"]) - self.start
        self.found.append(PeakCall(call, peak, peak, "requested bytes of the CUDA allocator"))


def peak_calls(workload: Workload) -> list[PeakCall]:
    """The peak of every call of one run."""
    if workload.device.type == "cuda":
        asked = _Requested(workload.device)
        with watching(workload, asked):
            workload.run()
        return asked.found
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler prints when it starts and stops
    marks = _Marks()
    with (
        profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled,
        watching(workload, marks),
    ):
        workload.run()
    assert profiled.profiler is not None and profiled.profiler.kineto_results is not None
    return _replay(profiled.profiler.kineto_results.experimental_event_tree(), marks.found)


def _replay(tree: Any, calls: list[CallSeen]) -> list[PeakCall]:
    waiting, events = list(tree), []
    while waiting:
        event = waiting.pop()
        events.append(event)
        waiting += event.children
    spans = {e.name: (e.start_time_ns, e.end_time_ns) for e in events if e.name.startswith(_MARK)}
    kernels = (*_PRODUCTS, *(name for names, _ in WORKSPACES.values() for name in names))
    own = [(e.start_time_ns, e.end_time_ns) for e in events if e.name.startswith(kernels)]
    memory = sorted(
        (e.start_time_ns, e.extra_fields.ptr, e.extra_fields.alloc_size)
        for e in events
        if e.tag == _EventType.Allocation
    )
    found: list[PeakCall] = []
    for call in calls:
        start, end = spans[f"{_MARK}{call.index}"]
        inside = [one for one in memory if start <= one[0] <= end]
        found.append(
            PeakCall(
                call, replayed(inside, own), replayed(inside), "allocations seen by torch.profiler, replayed"
            )
        )
    return found
