"""Any file of a profiler in; what it is told by its content, and read by the reader for it."""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path
from typing import Final

from forwardbook.profiling.readers.kernels import KernelRow, Launch
from forwardbook.profiling.readers.ncu_csv import NcuReport, read_ncu_csv
from forwardbook.profiling.readers.ncu_rep import read_ncu_rep
from forwardbook.profiling.readers.nsys_sqlite import NsysExport, read_nsys_sqlite
from forwardbook.profiling.readers.nsys_stats import NsysReport, read_nsys_stats
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable
from forwardbook.profiling.readers.torch_trace import GZIP, TorchTrace, kernel_rows, read_torch_trace

Report = NsysReport | NsysExport | NcuReport | TorchTrace

SQLITE: Final = b"SQLite format 3\x00"
HEAD: Final = 4096


def read_report(path: Path, locale: str | None = None) -> Report:
    """The report in a file of any known kind.

    Raises:
        ReportUnreadable: for a file of no known kind, or one that is cut off.
        NothingCaptured: for a file that holds nothing.
    """
    if not path.is_file():
        told = "it is a folder" if path.is_dir() else "there is no such file"
        step = "give one report; `forwardbook profile analyze` reads folders" if path.is_dir() else ""
        raise ReportUnreadable(str(path), told, step)
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise NothingCaptured(path.name, "byte", (), "the tool was stopped or found nothing to write")
    if path.suffix == ".ncu-rep":
        return read_ncu_rep(path)
    if path.suffix in (".nsys-rep", ".qdrep", ".qdstrm"):
        step = "nsys export --type sqlite FILE.nsys-rep, then give the .sqlite"
        raise ReportUnreadable(path.name, "this format is read by nsys alone", step)
    if head.startswith(SQLITE):
        return read_nsys_sqlite(path)
    if _is_trace(_beginning(path, head)):
        return read_torch_trace(path)
    text = _text(path)
    if '"Kernel Name"' in text or "==PROF==" in text or "==ERROR==" in text or _unquoted_ncu(text):
        return read_ncu_csv(text, path.name, locale)
    return read_nsys_stats(text, path.name)


def _beginning(path: Path, head: bytes) -> bytes:
    """The first bytes of what a compressed file holds."""
    if not head.startswith(GZIP):
        return head
    try:
        with gzip.open(path) as file:
            return file.read(HEAD)
    except (OSError, EOFError) as error:
        raise ReportUnreadable(path.name, f"{type(error).__name__}: {error}") from error


def _is_trace(head: bytes) -> bool:
    """A trace is an object, or a list of events in Chrome's old form; nsys writes lists of rows."""
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return start.startswith(b"{") or (start.startswith(b"[") and b'"ph"' in start)


def _unquoted_ncu(text: str) -> bool:
    """Spreadsheets save the same table without quotes."""
    return any(line.startswith("ID,Process ID,") for line in text.splitlines()[:50])


def _text(path: Path) -> str:
    data = path.read_bytes()
    if data.startswith(GZIP):
        data = gzip.decompress(data)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReportUnreadable(path.name, f"it is neither text nor a known format: {error}") from error


def kernels_of(report: Report) -> list[KernelRow]:
    """The kernels of a report, one row for each grid where it tells grids apart.

    Raises:
        NothingCaptured: for a report without kernels.
    """
    rows: list[KernelRow]
    if isinstance(report, TorchTrace):
        rows = kernel_rows(report)
    elif isinstance(report, NcuReport):
        rows = [_of_launch(one) for one in report.launches]
    else:
        rows = list(report.kernels)
    if not rows:
        step = "was it captured with --trace=cuda (nsys) or ProfilerActivity.CUDA (torch)?"
        raise NothingCaptured(report.file, "kernel", (), _held(report) or step)
    return rows


def _held(report: Report) -> str:
    """What a report without kernels holds instead."""
    parts = ("ranges", "in_ranges", "api", "copies", "operators", "counters")
    words = {"in_ranges": "kernels within ranges", "api": "kinds of API calls", "copies": "kinds of copies"}
    counts = {words.get(name, name): len(getattr(report, name, ())) for name in parts}
    found = [f"{count:,} {word}" for word, count in counts.items() if count]
    return f"instead it holds {', '.join(found)}" if found else ""


def _of_launch(one: Launch) -> KernelRow:
    seconds = one.value("gpu__time_duration.sum")
    if seconds is None:
        seconds = one.value("Duration")
    nanoseconds = None if seconds is None else round(seconds * 1e9, 3)
    return KernelRow(one.name, 1, nanoseconds, mangled=one.mangled, grid=one.grid, block=one.block)
