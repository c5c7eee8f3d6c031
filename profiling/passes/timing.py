"""A workload in; the time of each of its calls, sample by sample, without any profiler, out."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import torch

from forwardbook.profiling.passes.workload import CallSeen, Workload, synchronise, watching


@dataclass(frozen=True)
class TimedCall:
    """One call in one repeat: seconds."""

    repeat: int
    call: CallSeen
    seconds: float


@dataclass(frozen=True)
class Timing:
    """All samples; `wall` is the whole run by the clock, `method` how calls were timed."""

    calls: tuple[TimedCall, ...]
    wall: tuple[float, ...]
    method: str
    warmup: int

    def of(self, phase: str) -> list[float]:
        """Seconds of all calls of a phase."""
        return [one.seconds for one in self.calls if one.call.phase == phase]

    def phases(self) -> list[str]:
        """Phases in the order in which they ran."""
        return list(dict.fromkeys(one.call.phase for one in self.calls))


@dataclass
class _Clock:
    """The clock of the processor around each call."""

    started: dict[int, float] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    seen: dict[int, CallSeen] = field(default_factory=dict)

    def before(self, call: CallSeen) -> None:
        self.seen[call.index] = call
        self.started[call.index] = perf_counter()

    def after(self, call: CallSeen) -> None:
        self.seconds[call.index] = perf_counter() - self.started[call.index]

    def read(self) -> dict[int, float]:
        """Seconds of each call."""
        return self.seconds


@dataclass
class _Events:
    """Events in the stream around each call: nothing waits until the end of the run."""

    device: torch.device
    pairs: dict[int, tuple[torch.cuda.Event, torch.cuda.Event]] = field(default_factory=dict)
    seen: dict[int, CallSeen] = field(default_factory=dict)

    def before(self, call: CallSeen) -> None:
        pair = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.seen[call.index], self.pairs[call.index] = call, pair
        pair[0].record()

    def after(self, call: CallSeen) -> None:
        self.pairs[call.index][1].record()

    def read(self) -> dict[int, float]:
        """Seconds of each call, after one wait for all."""
        synchronise(self.device)
        return {index: a.elapsed_time(b) / 1000 for index, (a, b) in self.pairs.items()}


def time_calls(
    workload: Workload, repeats: int, warmup: int, done: Callable[[int], None] = lambda repeat: None
) -> Timing:
    """`repeats` runs after `warmup` that do not count."""
    for _ in range(warmup):
        workload.run()
    calls: list[TimedCall] = []
    wall: list[float] = []
    cuda = workload.device.type == "cuda"
    for repeat in range(repeats):
        clock: _Clock | _Events = _Events(workload.device) if cuda else _Clock()
        synchronise(workload.device)
        with watching(workload, clock):
            start = perf_counter()
            workload.run()
            synchronise(workload.device)
            wall.append(perf_counter() - start)
        calls += [TimedCall(repeat, clock.seen[index], spent) for index, spent in clock.read().items()]
        done(repeat)
    method = "CUDA events, one synchronisation at the end" if cuda else "perf_counter around each call"
    return Timing(tuple(calls), tuple(wall), method, warmup)


def summary(seconds: Sequence[float]) -> dict[str, float | int]:
    """How many samples, and their middle and spread."""
    return {
        "n": len(seconds),
        "median_s": statistics.median(seconds),
        "mean_s": statistics.fmean(seconds),
        "stdev_s": statistics.stdev(seconds) if len(seconds) > 1 else 0.0,
        "min_s": min(seconds),
        "max_s": max(seconds),
    }
