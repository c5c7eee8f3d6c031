"""What a run measured in; its pictures in a folder out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forwardbook.pipeline.profile.pages import Results
from forwardbook.profiling.plots import bars, roofline, spread


def pictures(results: Results, folder: Path) -> Iterator[Path]:
    """Time of each phase, operators, and phases on the roofline where peaks are known."""
    if results.timing is not None:
        samples = {p: [one * 1e3 for one in results.timing.of(p)] for p in results.timing.phases()}
        yield spread(folder / "stages.svg", "Time of a call by phase", samples, "ms")
    if results.operators:
        top = {row.name: _spent(row.self_device_us, row.self_cpu_us) for row in results.operators[:12]}
        yield bars(folder / "operators.svg", "Operators, time by themselves", top, "microseconds")
    peaks = results.peaks_of_device
    if peaks is not None and peaks.flops and peaks.bandwidth and results.rates:
        points = {
            r.phase: (r.flops / r.least_bytes, r.flop_per_second) for r in results.rates if r.least_bytes
        }
        title = f"Phases on the roofline ({peaks.format})"
        yield roofline(folder / "roofline.svg", title, points, {peaks.format: peaks.flops}, peaks.bandwidth)


def _spent(device: float | None, cpu: float) -> float:
    return cpu if device is None else device
