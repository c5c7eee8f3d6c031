"""A workload in; what torch's profiler says of its operators, and a trace for a viewer, out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

from forwardbook.profiling.hooks import announced
from forwardbook.profiling.passes.workload import CallSeen, Workload, synchronise, watching
from forwardbook.profiling.trace_work import MODULE


@dataclass(frozen=True)
class OperatorRow:
    """An operator over one run: microseconds of itself and with what it calls; None is not measured."""

    name: str
    calls: int
    self_cpu_us: float
    cpu_us: float
    self_device_us: float | None
    device_us: float | None


@dataclass
class _Phases:
    """The phases as ranges in the trace."""

    open: list[Any]

    def before(self, call: CallSeen) -> None:
        mark = record_function(call.phase)
        mark.__enter__()
        self.open.append(mark)

    def after(self, call: CallSeen) -> None:
        self.open.pop().__exit__(None, None, None)


def operators(workload: Workload, trace: Path | None, modules: bool = True) -> list[OperatorRow]:
    """Operators of one run, the longest by themselves first; formulas can be held against the trace.

    Phases, and modules by their paths, are ranges of the trace and no operators. These times are not to be
    compared with the timing pass: watching costs as much as a small operator.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    cuda = workload.device.type == "cuda"
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if cuda else [])
    named = module_ranges(workload.model) if modules else nullcontext()
    with (
        named,
        watching(workload, _Phases([])),
        profile(activities=activities, record_shapes=True) as profiled,
    ):
        workload.run()
        synchronise(workload.device)
    if trace is not None:
        profiled.export_chrome_trace(str(trace))
        _nameless(trace)
    rows = [_row(one, cuda) for one in profiled.key_averages() if not one.is_user_annotation]
    return sorted(rows, key=lambda row: -(row.self_device_us or 0) - row.self_cpu_us)


def _nameless(trace: Path) -> None:
    """Takes the names of the machine and of the file's place out of a trace."""
    data = trace.read_bytes()
    for key in (b"host_name", b"traceName"):
        data = re.sub(rb'"%s": "(?:[^"\\\\]|\\\\.)*"' % key, rb'"%s": ""' % key, data, count=1)
    trace.write_bytes(data)


def _row(one: Any, cuda: bool) -> OperatorRow:
    """Fields by their names in torch 2.6 and later; a name that is gone is an error, not a zero."""
    return OperatorRow(
        name=str(one.key),
        calls=int(one.count),
        self_cpu_us=float(one.self_cpu_time_total),
        cpu_us=float(one.cpu_time_total),
        self_device_us=float(one.self_device_time_total) if cuda else None,
        device_us=float(one.device_time_total) if cuda else None,
    )


@contextmanager
def module_ranges(model: nn.Module) -> Iterator[None]:
    """Inside, each module's call is a range named after its path, the model's after nothing."""
    open_ranges: list[Any] = []

    def begin(name: str) -> None:
        mark = record_function(f"{MODULE}{name}")
        mark.__enter__()
        open_ranges.append(mark)

    def end() -> None:
        open_ranges.pop().__exit__(None, None, None)

    with announced(model.named_modules(), begin, end):
        yield


def device_count() -> int:
    """How many GPUs torch sees."""
    return torch.cuda.device_count()
