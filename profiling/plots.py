"""Numbers in, pictures on disk out: bars, histograms, rooflines, as SVG, PNG or PDF by the file's ending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.errors import ForwardbookError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from forwardbook.models.roofline import Device

INK, ACCENT, SOFT = "#1f2937", "#2563eb", "#9ca3af"


class NoPictures(ForwardbookError):
    """matplotlib is not installed."""


def _axes(title: str, width: float = 7.0, height: float = 4.2) -> tuple[object, Axes]:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NoPictures("drawing pictures needs matplotlib: pip install matplotlib") from error
    matplotlib.rcParams["svg.hashsalt"] = "forwardbook"  # the same numbers give the same file
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _saved(figure: object, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    figure.savefig(path, metadata=metadata, dpi=150)  # type: ignore[attr-defined]
    return path


def bars(path: Path, title: str, values: Mapping[str, float], unit: str) -> Path:
    """One horizontal bar for each name, the first on top."""
    figure, axes = _axes(title, height=1.2 + 0.32 * max(len(values), 1))
    names = [name if len(name) <= 48 else f"{name[:30]}...{name[-15:]}" for name in values]
    axes.barh(range(len(names)), list(values.values()), color=ACCENT)
    axes.set_yticks(range(len(names)), labels=names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    return _saved(figure, path)


def spread(path: Path, title: str, samples: Mapping[str, Sequence[float]], unit: str) -> Path:
    """Every sample as a dot beside the others of its name, the median as a line."""
    from statistics import median

    figure, axes = _axes(title)
    for place, values in enumerate(samples.values()):
        axes.plot([place] * len(values), list(values), "o", color=ACCENT, alpha=0.5, markersize=4)
        if values:
            axes.hlines(median(values), place - 0.25, place + 0.25, color=INK)
    axes.set_xticks(range(len(samples)), labels=list(samples))
    axes.set_ylabel(unit)
    axes.set_ylim(bottom=0)
    return _saved(figure, path)


def histogram(path: Path, title: str, values: Sequence[float], unit: str) -> Path:
    """How many values lie where."""
    figure, axes = _axes(title)
    axes.hist(list(values), bins=min(20, max(len(values), 1)), color=ACCENT)
    axes.set_xlabel(unit)
    axes.set_ylabel("kernels")
    return _saved(figure, path)


def roofline(
    path: Path,
    title: str,
    points: Mapping[str, tuple[float, float]],
    roofs: Mapping[str, float],
    bandwidth: float,
) -> Path:
    """Points of flops per byte and flop/s below the roofs of a device; both axes are logarithmic."""
    figure, axes = _axes(title)
    for name, (intensity, rate) in points.items():
        axes.plot([intensity], [rate], "o", color=ACCENT)
        axes.annotate(name[:40], (intensity, rate), fontsize=7, xytext=(4, 4), textcoords="offset points")
    measured = [intensity for intensity, _ in points.values()]
    least, most = min([0.1, *measured]) / 2, max([1e4, *measured]) * 2
    for name, peak in roofs.items():
        ridge = peak / bandwidth
        axes.plot([least, ridge, max(most, ridge)], [least * bandwidth, peak, peak], color=SOFT, linewidth=1)
        axes.annotate(name, (most, peak), fontsize=7, ha="right", va="bottom", color=INK)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("flops for each byte")
    axes.set_ylabel("flop/s")
    return _saved(figure, path)


def device_roofline(
    path: Path, title: str, points: Mapping[str, tuple[float, float]], device: Device
) -> Path:
    """Points below the roofs of a device of the table."""
    return roofline(path, title, points, device.flops, device.bandwidth)
