"""Output of `nsys stats` in (CSV, TSV, JSON, columns; 2019 to 2025); kernels, copies and ranges out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from forwardbook.profiling.readers.kernels import KernelRow, Number, dim3
from forwardbook.profiling.readers.numerals import plain
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable
from forwardbook.profiling.readers.tables import Output, Table, bare, read_output
from forwardbook.profiling.readers.units import TIMES, number

COLUMNS: Final = frozenset(
    """Time,Time(%),Total Time,Instances,Average,Avg,Med,Minimum,Min,Maximum,Max,StdDev,Name,GridXYZ,BlockXYZ
    Num Calls,Calls,Count,Operations,Operation,Range,Style,NVTX Range,NVTX Inst,Kern Inst,Kernel Name,PID,TID
    Total Proj Time,Total Range Time,Range Instances,Proj Avg,Proj Med,Proj Min,Proj Max,Proj StdDev,Total
    Projected Start,Projected Duration,Orig Start,Orig Duration,NumGPUOps,Lvl,NumChild,RangeId,ParentId
    RangeStack,NameTree,Start,End,Duration,DurChild,DurNonChild""".replace("\n    ", ",").split(",")
)
# The same table under the names of the versions: 2022 and before, 2023 and after.
OLD_NAMES: Final = {
    "gpukernsum": "cuda_gpu_kern_sum",
    "nvtxsum": "nvtx_sum",
    "cudaapisum": "cuda_api_sum",
    "gpumemtimesum": "cuda_gpu_mem_time_sum",
    "gpumemsizesum": "cuda_gpu_mem_size_sum",
    "nvtxppsum": "nvtx_pushpop_sum",
    "nvtxkernsum": "nvtx_kern_sum",
}


@dataclass(frozen=True)
class RangeRow:
    """A named range: how often it was entered, nanoseconds on the CPU and, if known, on the GPU."""

    name: str
    instances: int | None
    total_ns: Number | None
    gpu_ns: Number | None = None
    gpu_operations: int | None = None
    start_ns: Number | None = None
    level: int | None = None
    style: str = ""


@dataclass(frozen=True)
class NamedTime:
    """An API call or a kind of copy: how often, and nanoseconds in all."""

    name: str
    instances: int | None
    total_ns: Number | None


@dataclass(frozen=True)
class NsysReport:
    """What one file holds: kernels, kernels within ranges, ranges, API calls and copies, and other lines."""

    file: str
    kernels: tuple[KernelRow, ...] = ()
    in_ranges: tuple[tuple[str, KernelRow], ...] = ()
    ranges: tuple[RangeRow, ...] = ()
    api: tuple[NamedTime, ...] = ()
    copies: tuple[NamedTime, ...] = ()
    said: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def read_nsys_stats(text: str, file: str) -> NsysReport:
    """All tables of one output.

    Raises:
        ReportUnreadable: for a cell that is no number, or a table that has lost a column it needs.
        NothingCaptured: where there is no table; the message repeats what nsys said.
    """
    output = read_output(text, file, COLUMNS)
    if not output.tables:
        raise NothingCaptured(file, "table of nsys stats", output.said, _advice(output))
    parts: dict[str, list[object]] = {}
    for table in output.tables:
        kind, reader = _kind(table, file)
        parts.setdefault(kind, []).extend(reader(_Rows(table, file)))
    return NsysReport(
        file=file,
        said=output.said,
        names=tuple(OLD_NAMES.get(t.name, t.name) for t in output.tables),
        **{kind: tuple(rows) for kind, rows in parts.items()},  # type: ignore[arg-type]
    )


def _advice(output: Output) -> str:
    told = " ".join(output.said)
    if "SKIPPED" in told and "exists" in told:
        return "nsys kept an older file of that name: run nsys stats with --force-overwrite=true"
    if "does not contain" in told or "SKIPPED" in told:
        return "the capture has no such events: was it made with --trace=cuda,nvtx, and did a kernel run?"
    if "newer than" in told:
        return (
            "the report is newer than this nsys: export it with the version that made it, or read its .sqlite"
        )
    if "could not be found" in told:
        names = ", ".join(f"{new} was {old}" for old, new in list(OLD_NAMES.items())[:3])
        return f"reports changed their names in 2023: {names}"
    return "give the output of `nsys stats --format csv|json`, with its header"


class _Rows:
    """The rows of a table by column name whatever its unit, times in nanoseconds."""

    def __init__(self, table: Table, file: str) -> None:
        self.table, self.file = table, file
        self.names = {bare(column): column for column in table.columns}
        self.factors = {bare(c): TIMES.get(_unit(c), Decimal(1)) for c in table.columns}

    def column(self, *names: str) -> str | None:
        """The first of these names that the table has."""
        return next((name for name in names if name in self.names), None)

    def each(self) -> Iterator[_Row]:
        for cells, line in zip(self.table.rows, self.table.lines, strict=True):
            yield _Row(self, cells, line)


@dataclass(frozen=True)
class _Row:
    rows: _Rows
    cells: dict[str, str]
    line: int

    def text(self, *names: str) -> str:
        name = self.rows.column(*names)
        return self.cells.get(self.rows.names[name], "") if name else ""

    def value(self, *names: str) -> Number | None:
        """A number, times in nanoseconds; None for no column or no value."""
        name = self.rows.column(*names)
        if name is None:
            return None
        column = self.rows.names[name]
        try:
            found = plain(self.cells.get(column, ""))
        except ValueError as error:
            step = "export the table again with LC_ALL=C and --format csv"
            raise ReportUnreadable(self.rows.file, f"in column {column}: {error}", step, self.line) from None
        factor = self.rows.factors[name]
        if found is None or factor == 1:
            return found
        return number(Decimal(str(found)) * factor)

    def whole(self, *names: str) -> int | None:
        found = self.value(*names)
        return None if found is None else int(found)


def _unit(column: str) -> str:
    return column.rpartition("(")[2].rstrip(")").strip() if column.endswith(")") else ""


def _kind(table: Table, file: str) -> tuple[str, Callable[[_Rows], Sequence[object]]]:
    """Which table it is, told by its columns alone."""
    names = {bare(column) for column in table.columns}
    for needed, kind, reader in _KINDS:
        if needed <= names:
            return kind, reader
    found = ", ".join(table.columns)
    raise ReportUnreadable(file, f"a table of nsys with columns that are not known: {found}")


def _kernel(row: _Row, name: str) -> KernelRow:
    return KernelRow(
        name=name,
        instances=row.whole("Instances", "Kern Inst"),
        total_ns=row.value("Total Time"),
        avg_ns=row.value("Avg", "Average"),
        med_ns=row.value("Med"),
        min_ns=row.value("Min", "Minimum"),
        max_ns=row.value("Max", "Maximum"),
        stddev_ns=row.value("StdDev"),
        grid=dim3(row.text("GridXYZ")),
        block=dim3(row.text("BlockXYZ")),
    )


def _kernels(rows: _Rows) -> list[KernelRow]:
    return [_kernel(row, row.text("Name")) for row in rows.each()]


def _in_ranges(rows: _Rows) -> list[tuple[str, KernelRow]]:
    return [(row.text("NVTX Range"), _kernel(row, row.text("Kernel Name"))) for row in rows.each()]


def _ranges(rows: _Rows) -> list[RangeRow]:
    return [
        RangeRow(row.text("Range"), row.whole("Instances"), row.value("Total Time"), style=row.text("Style"))
        for row in rows.each()
    ]


def _projected(rows: _Rows) -> list[RangeRow]:
    return [
        RangeRow(
            name=row.text("Range"),
            instances=row.whole("Range Instances"),
            total_ns=row.value("Total Range Time"),
            gpu_ns=row.value("Total Proj Time"),
            gpu_operations=row.whole("Total GPU Ops"),
            style=row.text("Style"),
        )
        for row in rows.each()
    ]


def _projections(rows: _Rows) -> list[RangeRow]:
    return [
        RangeRow(
            name=row.text("Name"),
            instances=1,
            total_ns=row.value("Orig Duration"),
            gpu_ns=row.value("Projected Duration"),
            gpu_operations=row.whole("NumGPUOps"),
            start_ns=row.value("Projected Start"),
            level=row.whole("Lvl"),
            style=row.text("Style"),
        )
        for row in rows.each()
    ]


def _traced(rows: _Rows) -> list[RangeRow]:
    return [
        RangeRow(
            name=row.text("Name"),
            instances=1,
            total_ns=row.value("Duration"),
            start_ns=row.value("Start"),
            level=row.whole("Lvl"),
        )
        for row in rows.each()
    ]


def _named(*columns: str) -> Callable[[_Rows], list[NamedTime]]:
    def read(rows: _Rows) -> list[NamedTime]:
        return [
            NamedTime(row.text("Operation", "Name"), row.whole(*columns), row.value("Total Time"))
            for row in rows.each()
        ]

    return read


_KINDS: Final[Sequence[tuple[frozenset[str], str, Callable[[_Rows], Sequence[object]]]]] = (
    (frozenset({"NVTX Range", "Kernel Name"}), "in_ranges", _in_ranges),
    (frozenset({"Total Proj Time", "Range"}), "ranges", _projected),
    (frozenset({"Projected Duration", "Name"}), "ranges", _projections),
    (frozenset({"RangeId", "Duration", "Name"}), "ranges", _traced),
    (frozenset({"Total Time", "Range"}), "ranges", _ranges),
    (frozenset({"Total Time", "Num Calls"}), "api", _named("Num Calls")),
    (frozenset({"Total Time", "Calls"}), "api", _named("Calls")),
    (frozenset({"Total Time", "Operation"}), "copies", _named("Count", "Instances", "Operations")),
    (frozenset({"Total Time", "Instances", "Name"}), "kernels", _kernels),
)
