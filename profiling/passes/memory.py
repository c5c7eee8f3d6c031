"""A workload in; the largest sum of live bytes beyond what each call was given, out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._C._profiler import _ProfilerEvent
from torch.profiler import ProfilerActivity, profile, record_function

from forwardbook.profiling.allocations import allocations_in
from forwardbook.profiling.cpu_kernels import WORKSPACES
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
    """The peak of every call of one run.

    On a GPU a run before it lets libraries take what they keep, from the same allocator; and what a call is
    given lives as long as the call, as a cache does not that is concatenated with what is new.
    """
    if workload.device.type == "cuda":
        workload.run()
        asked = _Requested(workload.device)
        with watching(workload, asked), _holding(workload.model):
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


@contextmanager
def _holding(model: torch.nn.Module) -> Iterator[None]:
    """Inside, no tensor that a call was given dies before it returns: only what it makes changes the sum."""
    held: list[list[torch.Tensor]] = []

    def enter(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        held.append(list(tensors_in((args, kwargs))))

    def leave(module: torch.nn.Module, *rest: object) -> None:
        held.pop()

    handles = [
        model.register_forward_pre_hook(enter, with_kwargs=True),
        model.register_forward_hook(leave, always_call=True),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def tensors_in(value: object, seen: set[int] | None = None) -> Iterator[torch.Tensor]:
    """The tensors of arguments, and of the caches and other objects among them; not those of modules."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, (torch.nn.Module, type, str)):
        return
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        yield value
        return
    inner: list[object] = []
    if isinstance(value, Mapping):
        inner += value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner += value
    inner += vars(value).values() if hasattr(value, "__dict__") and not callable(value) else ()
    for one in inner:
        yield from tensors_in(one, seen)


def _replay(tree: Iterable[_ProfilerEvent], calls: list[CallSeen]) -> list[PeakCall]:
    method = "allocations seen by torch.profiler, replayed"
    kernels = (*_PRODUCTS, *(name for names, _ in WORKSPACES.values() for name in names))
    found: list[PeakCall] = []
    every = allocations_in(tree, [f"{_MARK}{one.index}" for one in calls])
    for call, all_of in zip(calls, every, strict=True):
        own = all_of.workspaces(all_of.spans(kernels))
        found.append(PeakCall(call, all_of.without(own | all_of.numbers).peak(), all_of.peak(), method))
    return found
