"""Times and formulas of calls in; shares of a device's peaks (MFU, MBU) out, or achieved figures alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from forwardbook.pipeline.profile.compare import CallComparison
from forwardbook.pipeline.profile.model import Prepared

if TYPE_CHECKING:
    import torch

    from forwardbook.profiling.passes.timing import Timing

FORMATS: Final = {
    "float64": "fp64",
    "float32": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
}


@dataclass(frozen=True)
class DevicePeaks:
    """What the device can do at most, and how that is known: a row of the table, or measured just now."""

    name: str
    format: str
    flops: float | None
    bandwidth: float | None
    source: str
    spread: float | None = None


@dataclass(frozen=True)
class Rates:
    """One phase: flops and least bytes of one call (the median one), its time, and shares of peaks."""

    phase: str
    calls: int
    seconds: float
    flops: int
    least_bytes: int
    flop_per_second: float
    byte_per_second: float
    mfu: float | None
    mbu: float | None
    tokens_per_second: float | None
    note: str = ""


def device_peaks(device: torch.device, dtype: str, hardware: str | None) -> DevicePeaks:
    """The peaks of a device in a format; a processor's are measured, an unknown GPU has none."""
    import torch

    from forwardbook.profiling.peaks import UnknownDevice, devices_named

    kind = FORMATS.get(dtype, dtype)
    if device.type == "cpu" and hardware is None:
        return _measured(kind)
    name = hardware or torch.cuda.get_device_name(device)
    try:
        row = devices_named(name)[0]
    except UnknownDevice:
        if hardware is not None:
            raise
        return DevicePeaks(name, kind, None, None, "not in the table of peaks: no shares are given")
    if kind == "fp32" and device.type == "cuda" and torch.backends.cuda.matmul.allow_tf32:
        kind = "tf32" if "tf32" in row.flops else kind
    return DevicePeaks(row.name, kind, row.flops.get(kind), row.bandwidth, row.source)


def _measured(kind: str) -> DevicePeaks:
    from forwardbook.profiling.machine import processor
    from forwardbook.profiling.measured_peak import measure_copy, measure_cpu

    if kind not in ("fp64", "fp32", "bf16", "fp16"):
        return DevicePeaks(processor(), kind, None, None, "this format is not measured on processors")
    tried = [measure_cpu(kind, size, 5) for size in (384, 768, 1152)]
    best, copy = max(tried, key=lambda one: one.best), measure_copy(1 << 26, 5)
    told = f"measured here, best of {best.rounds}: {best.what}; {copy.what}; no figure for other machines"
    return DevicePeaks(processor(), kind, best.best, copy.best, told, max(best.spread, copy.spread))


def rates_of(
    timing: Timing, comparisons: Sequence[CallComparison], ready: Prepared, peaks: DevicePeaks
) -> list[Rates]:
    """Each phase at its median call: exact flops over measured time.

    The bytes are those that must move however well operations are fused: weights, inputs (the cache among
    them) and results, once each.
    """
    found: list[Rates] = []
    batch = ready.sizes.get("batch_size")
    for phase in timing.phases():
        known = [one for one in comparisons if one.call.phase == phase and one.totals is not None]
        if not known:
            continue
        middle = known[len(known) // 2]
        assert middle.totals is not None
        same = [one.seconds for one in timing.calls if one.call.index == middle.call.index]
        seconds = statistics.median(same)
        numbers = middle.totals.total
        flops, least = int(numbers.flops), int(numbers.boundary)
        positions = middle.call.positions
        mfu, above = _share(flops / seconds, peaks.flops, "flop/s", peaks)
        mbu, faster = _share(least / seconds, peaks.bandwidth, "byte/s", peaks)
        found.append(
            Rates(
                phase=phase,
                calls=len(timing.of(phase)),
                seconds=seconds,
                flops=flops,
                least_bytes=least,
                flop_per_second=flops / seconds,
                byte_per_second=least / seconds,
                mfu=mfu,
                mbu=mbu,
                tokens_per_second=batch * positions / seconds if batch and positions else None,
                note="; ".join(one for one in (above, faster) if one),
            )
        )
    return found


def _share(rate: float, peak: float | None, unit: str, peaks: DevicePeaks) -> tuple[float | None, str]:
    """A share of a peak; of a measured peak that the run beat there is none, and a note says so."""
    if not peak:
        return None, ""
    if peaks.spread is not None and rate > peak:
        return None, f"more {unit} than the peak that was measured: the machine was busy then"
    return rate / peak, ""
