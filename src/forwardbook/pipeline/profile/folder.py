"""An analysis of kernels in; its table, page and pictures in a folder out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forwardbook.models.roofline import Device
from forwardbook.profiling.kernel_analysis import FolderAnalysis, as_csv, as_page
from forwardbook.profiling.plots import device_roofline, histogram
from forwardbook.workspace.storage import write_atomically


def analyse_into(found: FolderAnalysis, device: Device | None, folder: Path) -> Iterator[Path]:
    """Everything written, one file after another."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("kernels.csv", as_csv(found.kernels, device)), ("report.md", as_page(found, device))):
        write_atomically(folder / name, text)
        yield folder / name
    works = {one.label: one.work for one in found.kernels}
    times = [w.seconds * 1e6 for w in works.values() if w.seconds is not None]
    if times:
        yield histogram(folder / "times.svg", "Time of kernels", times, "microseconds")
    intensities = [w.intensity for w in works.values() if w.intensity is not None]
    if intensities:
        yield histogram(
            folder / "intensity.svg", "Operations for each byte", intensities, "flops for each byte"
        )
    points = {
        label: (w.intensity, w.rate)
        for label, w in works.items()
        if w.intensity is not None and w.rate is not None
    }
    if device is not None and points:
        formats = {w.format for w in works.values() if w.format is not None}
        yield device_roofline(folder / "roofline.svg", f"Kernels on {device.name}", points, device, formats)
