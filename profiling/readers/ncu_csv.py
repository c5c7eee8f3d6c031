"""CSV of Nsight Compute in (pages details and raw, 2020 to 2025); profiled launches with typed counters out.

Details are long, a row for each counter; raw is wide, with units in its second row. Both are read by column
name. Counters come out in base units, and one that was not collected is absent, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from forwardbook.profiling.readers.kernels import Launch, Metric, dim3
from forwardbook.profiling.readers.numerals import Style, absent, looks_numeric, style_of
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable
from forwardbook.profiling.readers.ranges import range_stack
from forwardbook.profiling.readers.tables import Table, read_output
from forwardbook.profiling.readers.units import base_unit, number

IDENTITY: Final = frozenset(
    {
        "ID",
        "Process ID",
        "Process Name",
        "Host Name",
        "Kernel Name",
        "Kernel Time",
        "Context",
        "Stream",
        "Block Size",
        "Grid Size",
        "Device",
        "CC",
        "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
        "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    }
)
LONG: Final = frozenset({"Kernel Name", "Metric Name", "Metric Value"})
ADVICE: Final = {
    "ERR_NVGPUCTRPERM": "reading counters needs rights: run as root, or load the driver with "
    "NVreg_RestrictProfilingToAdminUsers=0",
    "failed to connect to the CUDA driver": "there is no GPU or no driver where ncu ran",
    "No kernels were profiled": "no kernel matched: check --kernel-name, --nvtx-include and --launch-skip",
    "No metrics to collect": "this chip has no such counter: ncu --query-metrics --chips <chip>",
}


@dataclass(frozen=True)
class NcuReport:
    """The launches of one file in order, and every line that was no row."""

    file: str
    launches: tuple[Launch, ...]
    said: tuple[str, ...] = ()


@dataclass
class _Found:
    """The cells of one launch while its rows are gathered."""

    cells: Mapping[str, str]
    metrics: dict[str, Metric] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)


def read_ncu_csv(text: str, file: str, locale: str | None = None) -> NcuReport:
    """All launches of a CSV.

    Raises:
        NothingCaptured: where there is no row; the message repeats what ncu said.
        ReportUnreadable: for numbers that can be read in two ways, unless `locale` (C, en, de, fr) is given.
    """
    output = read_output(text, file, IDENTITY)
    tables = [table for table in output.tables if "Kernel Name" in table.columns and table.rows]
    if not tables:
        told = " ".join(output.said)
        step = next((advice for mark, advice in ADVICE.items() if mark in told), _NO_PAGE)
        raise NothingCaptured(file, "row of Nsight Compute", _loudest(output.said), step)
    launches: list[Launch] = []
    for table in tables:
        style = _style(table, file, locale)
        rows = _long(table, style, file) if set(table.columns) >= LONG else _wide(table, style, file)
        launches += rows
    return NcuReport(file, tuple(launches), output.said)


_NO_PAGE: Final = (
    "with -o, ncu prints nothing unless --page is given: LC_ALL=C ncu --import FILE.ncu-rep --csv --page raw"
)


def _loudest(said: Iterable[str]) -> tuple[str, ...]:
    """What ncu said, errors first."""
    return tuple(sorted(said, key=lambda line: (not line.startswith("==ERROR=="), not line.startswith("=="))))


def _style(table: Table, file: str, locale: str | None) -> Style:
    names = set(table.columns)
    values = ["Metric Value"] if names >= LONG else sorted(names - IDENTITY)
    texts = [row[name] for row in table.rows for name in values if looks_numeric(row[name])]
    style, doubtful = style_of(texts, locale)
    if style is None or (locale is None and style.name in ("de", "fr")):
        shown = doubtful or next(text for text in texts if not text.isdigit())
        raise ReportUnreadable(
            file,
            f"numbers such as {shown!r} follow a locale that the file does not name",
            "print it again with LC_ALL=C, or say which with --locale en|de|fr",
        )
    return style


def _metric(name: str, text: str, unit: str, style: Style, section: str) -> Metric:
    kind, factor = base_unit(unit)
    if absent(text) or not style.fits(text.strip()):
        return Metric(name, None, kind, section, text)
    return Metric(name, number(style.read(text.strip()) * factor), kind, section, text)


def _long(table: Table, style: Style, file: str) -> Iterator[Launch]:
    """Rows of one counter each; a launch is known by process and number."""
    found: dict[tuple[str, str, str], _Found] = {}
    for row in table.rows:
        key = (row.get("Process ID", ""), row.get("ID", ""), row["Kernel Name"])
        one = found.setdefault(key, _Found(row))
        name, section = row["Metric Name"], row.get("Section Name", "")
        if not name:
            one.rules += [f"{row['Rule Name']}: {row['Rule Description']}"] if row.get("Rule Name") else []
            continue
        metric = _metric(name, row["Metric Value"], row.get("Metric Unit", ""), style, section)
        _add(one.metrics, metric, file)
    return (_launch(one) for one in found.values())


def _add(metrics: dict[str, Metric], metric: Metric, file: str) -> None:
    """A label may stand in two sections with two units: then the later one is told apart by its section."""
    known = metrics.get(metric.name)
    if known is None:
        metrics[metric.name] = metric
    elif (known.value, known.unit) != (metric.value, metric.unit):
        metrics[f"{metric.section}: {metric.name}"] = metric


def _wide(table: Table, style: Style, file: str) -> Iterator[Launch]:
    """Rows of one launch each, below a row of units."""
    units, rows = _units(table)
    names = [column for column in table.columns if column not in IDENTITY]
    if not units and any("bytes" in name for name in names):
        step = "print it with the row of units: ncu --import FILE.ncu-rep --csv --page raw --print-units base"
        raise ReportUnreadable(file, "counters of bytes have no unit", step)
    for row in rows:
        metrics: dict[str, Metric] = {}
        for name in names:
            if row[name].strip():
                metrics[name] = _metric(name, row[name], units.get(name, ""), style, "")
        yield _launch(_Found(row, metrics))


def _units(table: Table) -> tuple[Mapping[str, str], Sequence[dict[str, str]]]:
    first = table.rows[0]
    if any(first.get(name, "").strip() for name in ("ID", "Kernel Name")):
        return {}, table.rows
    return first, table.rows[1:]


def _launch(one: _Found) -> Launch:
    cells = one.cells
    stack = next((cells[c] for c in cells if "Push/Pop_Range" in c), "")
    return Launch(
        id=int(cells["ID"]) if cells.get("ID", "").isdigit() else -1,
        name=cells["Kernel Name"],
        metrics=one.metrics,
        mangled=cells["Kernel Name"] if cells["Kernel Name"].startswith("_Z") else None,
        grid=dim3(cells.get("Grid Size", "")),
        block=dim3(cells.get("Block Size", "")),
        device=cells.get("Device") or None,
        compute_capability=cells.get("CC") or None,
        ranges=range_stack(stack),
        process=cells.get("Process ID", ""),
        rules=tuple(one.rules),
    )
