"""An `.sqlite` export of Nsight Systems in (schemas 3.6 to 3.25); kernels, ranges, copies and GPUs out.

It needs no nsys, keeps grids apart and knows mangled names. Columns are looked up by name, and a table that
is not there is told from one that is empty.
"""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from forwardbook.profiling.readers.kernels import KernelRow, Number
from forwardbook.profiling.readers.nsys_stats import NamedTime, RangeRow
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable

KERNELS: Final = "CUPTI_ACTIVITY_KIND_KERNEL"
RANGES: Final = (59, 60)  # event types of push/pop and of start/end
DOMAIN: Final = 75  # event type of making a domain
# What nsys stats prints for copies and fills; the enumeration of the export says the rest.
DIRECTIONS: Final = {
    1: "Host-to-Device",
    2: "Device-to-Host",
    8: "Device-to-Device",
    10: "Peer-to-Peer",
}


@dataclass(frozen=True)
class Gpu:
    """A GPU as the export describes it; what it does not say is None."""

    id: int
    name: str
    sms: int | None
    clock_hz: int | None
    bandwidth: int | None
    memory: int | None


@dataclass(frozen=True)
class NsysExport:
    """What the export holds, and the tables that it lacks."""

    file: str
    schema: str
    kernels: tuple[KernelRow, ...]
    ranges: tuple[RangeRow, ...]
    copies: tuple[NamedTime, ...]
    gpus: tuple[Gpu, ...]
    absent: tuple[str, ...]


def read_nsys_sqlite(path: Path) -> NsysExport:
    """Everything that the export says of kernels, ranges, copies and GPUs.

    Raises:
        ReportUnreadable: for a file that is no export of nsys.
        NothingCaptured: for an export with neither kernels nor ranges.
    """
    if not path.is_file():
        raise ReportUnreadable(path.name, "there is no such file")
    with _opened(path) as base:
        tables = {str(name) for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type='table'")}
        if "StringIds" not in tables:
            raise ReportUnreadable(
                path.name,
                "it has no table StringIds",
                "give what `nsys export --type sqlite` or --export wrote",
            )
        wanted = (KERNELS, "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_MEMCPY", "TARGET_INFO_GPU")
        found = NsysExport(
            file=path.name,
            schema=_schema(base, tables),
            kernels=tuple(_kernels(base)) if KERNELS in tables else (),
            ranges=tuple(_ranges(base)) if "NVTX_EVENTS" in tables else (),
            copies=tuple(_copies(base, tables)),
            gpus=tuple(_gpus(base)) if "TARGET_INFO_GPU" in tables else (),
            absent=tuple(name for name in wanted if name not in tables),
        )
    if not found.kernels and not found.ranges:
        step = "was it captured with --trace=cuda,nvtx, and did the range that it waited for begin?"
        raise NothingCaptured(path.name, "kernel and no range", (), step)
    return found


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The file for reading alone: nothing is written beside it, not even a journal."""
    place = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(place, uri=True)) as base:
            base.row_factory = None
            yield base
    except sqlite3.Error as error:
        raise ReportUnreadable(path.name, f"SQLite refuses it: {error}") from error


def _schema(base: sqlite3.Connection, tables: set[str]) -> str:
    if "META_DATA_EXPORT" not in tables:
        return ""
    values = dict(base.execute("SELECT name, value FROM META_DATA_EXPORT"))
    parts = [values.get(f"EXPORT_SCHEMA_VERSION_{part}") for part in ("MAJOR", "MINOR", "MICRO")]
    told = [str(part) for part in parts if part is not None]
    return ".".join(told) or str(values.get("EXPORT_SCHEMA_VERSION", ""))


def _columns(base: sqlite3.Connection, table: str) -> set[str]:
    return {str(row[1]) for row in base.execute(f'PRAGMA table_info("{table}")')}


def _optional(columns: set[str], name: str, table: str = "k") -> str:
    return f'{table}."{name}"' if name in columns else "NULL"


def _kernels(base: sqlite3.Connection) -> Iterator[KernelRow]:
    """One row for each kernel, grid, block and device, as `cuda_gpu_kern_gb_sum` has them."""
    has = _columns(base, KERNELS)
    name = next((column for column in ("demangledName", "shortName") if column in has), None)
    if name is None or not {"start", "end"} <= has:
        raise ReportUnreadable(KERNELS, f"it has no name or time among {', '.join(sorted(has))}")
    mangled = f"(SELECT value FROM StringIds WHERE id = {_optional(has, 'mangledName')})"
    shape = ", ".join(_optional(has, f"{kind}{axis}") for kind in ("grid", "block") for axis in "XYZ")
    query = (
        f'SELECT s.value, {mangled}, {_optional(has, "deviceId")}, {shape}, k."end" - k.start '
        f"FROM {KERNELS} k LEFT JOIN StringIds s ON s.id = k.{name}"
    )
    groups: dict[tuple[object, ...], list[int]] = {}
    for *key, duration in base.execute(query):
        groups.setdefault(tuple(key), []).append(int(duration))
    for (title, raw, device, gx, gy, gz, bx, by, bz), times in groups.items():
        yield KernelRow(
            name=str(title),
            instances=len(times),
            total_ns=sum(times),
            avg_ns=sum(times) / len(times),
            med_ns=statistics.median(times),
            min_ns=min(times),
            max_ns=max(times),
            stddev_ns=statistics.stdev(times) if len(times) > 1 else 0.0,
            mangled=None if raw is None else str(raw),
            grid=None if gx is None else (_whole(gx), _whole(gy), _whole(gz)),
            block=None if bx is None else (_whole(bx), _whole(by), _whole(bz)),
            device=None if device is None else _whole(device),
        )


def _whole(value: object) -> int:
    return int(str(value))


def _ranges(base: sqlite3.Connection) -> Iterator[RangeRow]:
    has = _columns(base, "NVTX_EVENTS")
    stored = "(SELECT value FROM StringIds WHERE id = k.textId)" if "textId" in has else "NULL"
    own, domain = _optional(has, "text"), _optional(has, "domainId")
    domains = _domains(base, has)
    query = (
        f"SELECT {domain}, COALESCE({own}, {stored}, ''), COUNT(*), SUM(k.\"end\" - k.start), MIN(k.start) "
        f'FROM NVTX_EVENTS k WHERE k.eventType IN {RANGES} AND k."end" IS NOT NULL GROUP BY 1, 2 ORDER BY 5'
    )
    for place, name, count, total, start in base.execute(query):
        full = f"{domains[place]}:{name}" if place in domains else str(name)
        yield RangeRow(name=full, instances=int(count), total_ns=int(total), start_ns=int(start))


def _domains(base: sqlite3.Connection, has: set[str]) -> dict[object, str]:
    """The domains that the program made, which nsys writes before the names of their ranges."""
    if not {"domainId", "text"} <= has:
        return {}
    stored = "(SELECT value FROM StringIds WHERE id = textId)" if "textId" in has else "NULL"
    query = f"SELECT domainId, COALESCE(text, {stored}) FROM NVTX_EVENTS WHERE eventType = {DOMAIN}"
    return {place: str(name) for place, name in base.execute(query) if name}


def _copies(base: sqlite3.Connection, tables: set[str]) -> Iterator[NamedTime]:
    if "CUPTI_ACTIVITY_KIND_MEMCPY" in tables:
        query = 'SELECT copyKind, COUNT(*), SUM("end" - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY 1'
        for kind, count, total in base.execute(query):
            yield NamedTime(f"[CUDA memcpy {_direction(base, tables, int(kind))}]", int(count), int(total))
    if "CUPTI_ACTIVITY_KIND_MEMSET" in tables:
        row = base.execute('SELECT COUNT(*), SUM("end" - start) FROM CUPTI_ACTIVITY_KIND_MEMSET').fetchone()
        if row[0]:
            yield NamedTime("[CUDA memset]", int(row[0]), int(row[1]))


def _direction(base: sqlite3.Connection, tables: set[str], kind: int) -> str:
    if kind in DIRECTIONS:
        return DIRECTIONS[kind]
    if "ENUM_CUDA_MEMCPY_OPER" in tables:
        found = base.execute("SELECT label FROM ENUM_CUDA_MEMCPY_OPER WHERE id = ?", (kind,)).fetchone()
        if found:
            return str(found[0])
    return f"kind {kind}"


def _gpus(base: sqlite3.Connection) -> Iterator[Gpu]:
    has = _columns(base, "TARGET_INFO_GPU")
    wanted = ("id", "name", "smCount", "clockRate", "memoryBandwidth", "totalMemory")
    query = f"SELECT {', '.join(_optional(has, name) for name in wanted)} FROM TARGET_INFO_GPU k"
    for index, name, sms, clock, bandwidth, memory in base.execute(query):
        yield Gpu(
            _maybe(index) or 0, str(name), _maybe(sms), _maybe(clock), _maybe(bandwidth), _maybe(memory)
        )


def _maybe(value: object) -> int | None:
    """A number that was measured: exports write 0 for what they do not know."""
    found = None if value is None else int(str(value))
    return found or None


def totals(export: NsysExport) -> Mapping[str, Number]:
    """Nanoseconds of each kernel over all grids and devices."""
    found: dict[str, Number] = {}
    for row in export.kernels:
        found[row.name] = found.get(row.name, 0) + (row.total_ns or 0)
    return found
