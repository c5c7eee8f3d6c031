"""A folder of Nsight Compute reports in; each kernel on the roofline of its format out, in rows, a page."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forwardbook.models.roofline import Device
from forwardbook.profiling.counters import KernelWork, merged, work
from forwardbook.profiling.readers.anything import read_report
from forwardbook.profiling.readers.kernels import Launch
from forwardbook.profiling.readers.ncu_csv import NcuReport
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable
from forwardbook.profiling.shares import share
from forwardbook.profiling.shortening import shortened
from forwardbook.profiling.tiles import inner_of, tile_of

SUFFIXES = (".csv", ".ncu-rep", ".txt")
PLAN = ".cmd.txt"  # beside a capture of ours: how the tool was called
PAGE = ".raw.csv"
WIDEST = 64  # characters of a kernel's name on a page; kernels.csv has all of it
COLUMNS = (
    *("kernel", "name", "grid", "block", "format", "flops", "bytes", "seconds", "flops_per_byte"),
    *("flop_per_second", "bytes_per_second", "peak_flop_per_second", "share_of_peak", "bound"),
    *("tiles", "missing"),
)


@dataclass(frozen=True)
class AnalysedKernel:
    """One launch: where it was found, its counters and its place on the roofline."""

    label: str
    launch: Launch
    work: KernelWork

    def row(self, device: Device | None) -> dict[str, object]:
        """The launch as a row; unknown values are empty."""
        one, peak = self.work, self.work.peak(device)
        part = one.rate / peak if one.rate is not None and peak else None
        return dict(
            zip(
                COLUMNS,
                (
                    self.label,
                    self.launch.name,
                    self.launch.grid,
                    self.launch.block,
                    one.format,
                    one.flops,
                    one.bytes,
                    one.seconds,
                    one.intensity,
                    one.rate,
                    one.bandwidth,
                    peak,
                    part,
                    one.bound(device),
                    self.tiles(),
                    "; ".join(one.missing),
                ),
                strict=True,
            )
        )

    def tiles(self) -> str:
        """The operations as blocks times tiles times the length of the sum, where that is a whole number."""
        tile = tile_of(self.launch.name)
        counted = self.work.multiplied
        if tile is None or self.launch.grid is None or not counted:
            return ""
        inner = inner_of(counted, self.launch.grid, tile)
        blocks = self.launch.grid[0] * self.launch.grid[1] * self.launch.grid[2]
        return "" if inner is None else f"{blocks:,} * 2 * {tile.rows} * {tile.columns} * {inner:,}"


@dataclass(frozen=True)
class FolderAnalysis:
    """All launches of a folder, and the files that could not be read with why."""

    kernels: tuple[AnalysedKernel, ...]
    refused: tuple[tuple[str, str], ...]


def analyse_folder(folder: Path, locale: str | None = None) -> FolderAnalysis:
    """Every launch in the files of a folder, pages of one capture put together.

    Raises:
        NothingCaptured: for a folder without a readable report of Nsight Compute.
    """
    if not folder.is_dir():
        raise ReportUnreadable(str(folder), "there is no such folder")
    read: dict[str, list[Launch]] = {}
    refused: list[tuple[str, str]] = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in SUFFIXES):
        name = str(path.relative_to(folder))
        if path.name.endswith(PLAN) or path.suffix == ".ncu-rep" and path.with_suffix(PAGE).is_file():
            continue  # of the same capture there is a page of counters
        try:
            report = read_report(path, locale)
        except (ReportUnreadable, NothingCaptured) as error:
            refused.append((name, str(error).splitlines()[0]))
            continue
        if isinstance(report, NcuReport):
            read.setdefault(_stem(name), []).extend(report.launches)
    kernels = tuple(
        AnalysedKernel(f"{stem}#{place}" if place else stem, launch, work(launch))
        for stem, launches in read.items()
        for place, launch in enumerate(merged(launches))
    )
    if not kernels:
        told = tuple(f"{name}: {reason}" for name, reason in refused)
        raise NothingCaptured(str(folder), "report of Nsight Compute", told)
    return FolderAnalysis(kernels, tuple(refused))


def _stem(name: str) -> str:
    """What pages of one capture share: the name before the page's."""
    stem = name.rpartition(".")[0]
    for page in ("_details", "_raw", "_metrics", ".raw", ".details"):
        stem = stem.removesuffix(page)
    return stem.partition("_section_")[0]


def as_csv(kernels: Sequence[AnalysedKernel], device: Device | None) -> str:
    """One row for each launch."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for one in kernels:
        writer.writerow({name: "" if value is None else value for name, value in one.row(device).items()})
    return text.getvalue()


def as_page(found: FolderAnalysis, device: Device | None) -> str:
    """The analysis as Markdown."""
    return "\n".join(_page(found, device)) + "\n"


def _page(found: FolderAnalysis, device: Device | None) -> Iterator[str]:
    yield "# Kernels on the roofline\n"
    if device is None:
        yield "No device was named: what was achieved is shown, and no share of a peak.\n"
    else:
        yield f"Device: {device.name}; {device.bandwidth / 1e9:,.0f} GB/s; dense peaks, {device.source}.\n"
    yield "Intensity is operations counted by the hardware for each byte of DRAM. The bound follows from the"
    yield "peak of the format in which most operations ran.\n"
    yield "| Kernel | Name | Format | flops | Bytes | us | flops/byte | Tflop/s | GB/s | Share | Bound |"
    yield "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---|"
    for one in found.kernels:
        row, w = one.row(device), one.work
        part = row["share_of_peak"]
        cells = (
            f"`{one.label}`",
            f"`{_cell(shortened(one.launch.name, WIDEST))}`",
            w.format or "unknown",
            "unknown" if w.flops is None else f"{w.flops:,}",
            "unknown" if w.bytes is None else f"{w.bytes:,}",
            _shown(w.seconds, 1e6, ".2f"),
            _shown(w.intensity, 1, ".1f"),
            _shown(w.rate, 1e-12, ".1f"),
            _shown(w.bandwidth, 1e-9, ".0f"),
            share(part) if isinstance(part, float) else "unknown",
            w.bound(device),
        )
        yield f"| {' | '.join(cells)} |"
    yield "\n## Operations and tiles\n"
    for one in found.kernels:
        if one.tiles():
            yield f"- `{one.label}`: {one.work.multiplied:,} = {one.tiles()}"
    if any(one.work.missing for one in found.kernels):
        yield "\n## Not collected\n"
        for one in found.kernels:
            if one.work.missing:
                yield f"- `{one.label}`: {'; '.join(one.work.missing)}"
    if found.refused:
        yield "\n## Files that could not be read\n"
        for name, reason in found.refused:
            yield f"- `{name}`: {reason}"


def _cell(name: str) -> str:
    return name.replace("|", "\\|").replace("`", "'")


def _shown(value: float | None, scale: float, form: str) -> str:
    return "unknown" if value is None else format(value * scale, form)
