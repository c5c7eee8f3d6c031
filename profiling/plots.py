"""Numbers in, pictures on disk out: bars, histograms, rooflines, as SVG with a PNG beside, or PDF."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.errors import ForwardbookError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from forwardbook.models.roofline import Device

NAMED, LISTED = 3, 40  # points that are named beside them, and in a list
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
    """The picture, and beside one in SVG the same as PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    figure.savefig(path, metadata=metadata, dpi=150)  # type: ignore[attr-defined]
    if path.suffix == ".svg":
        figure.savefig(path.with_suffix(".png"), dpi=150)  # type: ignore[attr-defined]
    return path


def bars(path: Path, title: str, values: Mapping[str, float], unit: str) -> Path:
    """One horizontal bar for each name, the first on top."""
    figure, axes = _axes(title, height=1.2 + 0.32 * max(len(values), 1))
    names = [name if len(name) <= 48 else f"{name[:30]}...{name[-15:]}" for name in values]
    axes.barh(range(len(names)), list(values.values()), color=ACCENT)
    axes.set_yticks(range(len(names)), labels=names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.locator_params(axis="x", nbins=6)
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
    axes.hist(list(values), bins=20, color=ACCENT, edgecolor="white")
    axes.set_xlabel(unit)
    axes.set_ylabel("kernels")
    axes.locator_params(axis="y", integer=True)
    return _saved(figure, path)


def roofline(
    path: Path,
    title: str,
    points: Mapping[str, tuple[float, float]],
    roofs: Mapping[str, float],
    bandwidth: float,
) -> Path:
    """Points of flops per byte and flop/s below the roofs of a device; both axes are logarithmic.

    A few points are named beside them, more by number and a list; roofs of equal height share a line.
    """
    points = {name: point for name, point in points.items() if min(point) > 0}
    named = len(points) <= NAMED
    figure, axes = _axes(title, width=7.0 if named else 10.0)
    near: dict[tuple[int, int], list[str]] = {}
    for place, (name, (intensity, rate)) in enumerate(_short(points).items(), 1):
        axes.plot([intensity], [rate], "o", color=ACCENT, label=None if named else f"{place}  {name}")
        spot = round(log10(intensity) * 20), round(log10(rate) * 20)
        near.setdefault(spot, []).append(name if named else str(place))
    for (x, y), texts in near.items():
        where = 10 ** (x / 20), 10 ** (y / 20)
        axes.annotate(", ".join(texts), where, fontsize=7, xytext=(5, 5), textcoords="offset points")
    measured = [intensity for intensity, _ in points.values()]
    least, most = min([0.1, *measured]) / 2, max([1e4, *measured]) * 2
    heights: dict[float, list[str]] = {}
    for name, peak in roofs.items():
        heights.setdefault(peak, []).append(name)
    for peak, names in heights.items():
        ridge = peak / bandwidth
        axes.plot([least, ridge, max(most, ridge)], [least * bandwidth, peak, peak], color=SOFT, linewidth=1)
        text = f"{', '.join(names)}: {peak / 1e12:,.4g} Tflop/s"
        axes.annotate(text, (most, peak), fontsize=7, ha="right", va="bottom", color=INK)
    slope = (least, least * bandwidth)
    axes.annotate(
        f"{bandwidth / 1e9:,.4g} GB/s", slope, fontsize=7, xytext=(12, 2), textcoords="offset points"
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("flops for each byte")
    axes.set_ylabel("flop/s")
    if not named and len(points) <= LISTED:
        beside = {"handlelength": 0, "markerscale": 0, "frameon": False, "fontsize": 7}
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), **beside)
    return _saved(figure, path)


def _short(points: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """The points without what all their names begin with, up to a sign between words."""
    common = os.path.commonprefix(list(points)) if len(points) > 1 else ""
    cut = max(common.rfind(sign) for sign in "_-/ .") + 1
    return {name[cut:][:48]: point for name, point in points.items()}


def device_roofline(
    path: Path,
    title: str,
    points: Mapping[str, tuple[float, float]],
    device: Device,
    formats: Collection[str],
) -> Path:
    """Points below the roofs of a device of the table, those of the formats in use."""
    roofs = {name: peak for name, peak in device.flops.items() if name in formats}
    return roofline(path, title, points, roofs, device.bandwidth)
