"""Text of a tool's standard output in (CSV, TSV, JSON or columns, with noise); its tables out.

Nothing is found by position: a table begins at the line of its column names and ends where rows stop
fitting it. What is no table is kept as what the tool said.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forwardbook.profiling.readers.problem import ReportUnreadable

_DASHES = re.compile(r"\s*-{2,}(?:\s+-{2,})*\s*")
_TITLE = re.compile(r"\s*\*\*\s*(?P<title>.*?)\s*(?:\((?P<name>\w+)\))?:?\s*(?:\*\*)?\s*")
_PROCESSING = re.compile(r"Processing \[.*?\] with \[(?P<name>.*?)\]")


@dataclass(frozen=True)
class Table:
    """Rows by column name, where each began, and what the tool called the table."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, str], ...]
    lines: tuple[int, ...]
    name: str = ""


@dataclass(frozen=True)
class Output:
    """All tables of one file, and every other line."""

    tables: tuple[Table, ...]
    said: tuple[str, ...]


def read_output(text: str, file: str, known: frozenset[str]) -> Output:
    """The tables whose column names are among those `known` (units in brackets left out).

    Raises:
        ReportUnreadable: for a row with fewer or more cells than its table has columns.
    """
    text = text.removeprefix("\ufeff")
    stripped = text.lstrip()
    if stripped.startswith(("[", "{")) and (found := _json(stripped)) is not None:
        return found
    if "\n --" in text or "\n--" in text:
        columns = _columns(text, known)
        if columns.tables:
            return columns
    return _delimited(text, file, known)


def bare(column: str) -> str:
    """A column's name without its unit: `Total Time (ns)` is `Total Time`."""
    return re.sub(r"\s*\([^()]*\)\s*$", "", column).strip()


def _is_head(cells: Sequence[str], known: frozenset[str]) -> bool:
    names = {bare(cell) for cell in cells}
    return len(cells) >= 3 and len(names & known) >= 3


def _json(text: str) -> Output | None:
    try:
        values = json.loads(text)
    except ValueError:
        return None
    rows = [row for row in values if isinstance(row, dict)] if isinstance(values, list) else []
    if not rows:
        return Output((), ()) if values == [] else None
    columns = tuple(dict.fromkeys(str(key) for row in rows for key in row))
    cells = tuple({str(k): "" if v is None else str(v) for k, v in row.items()} for row in rows)
    return Output((Table(columns, cells, tuple(range(1, len(rows) + 1))),), ())


def _delimited(text: str, file: str, known: frozenset[str]) -> Output:
    tables: list[Table] = []
    said: list[str] = []
    name = ""
    head: list[str] = []
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    for line, raw, cells in _records(text):
        if not raw.strip() or _is_head(cells, known):
            if head:
                tables.append(Table(tuple(head), tuple(rows), tuple(lines), name))
            head, rows, lines = ([c.strip() for c in cells] if raw.strip() else []), [], []
        elif not head or raw.startswith("=="):
            said.append(raw.strip())
            name = _named(raw) or name
        elif len(cells) != len(head) and raw.endswith("\n") and not _looks_like_row(cells, head):
            said.append(raw.strip())  # a line that the profiled program printed between the rows
        elif len(cells) < len(head) and not raw.endswith((",\n", ",\r\n")):
            raise ReportUnreadable(
                file,
                f"a row with {len(cells)} cells in a table of {len(head)} columns",
                "the file is cut off or its names hold unquoted commas: export it again",
                line,
            )
        else:
            rows.append(dict(zip(head, [*cells, *[""] * (len(head) - len(cells))], strict=False)))
            lines.append(line)
    if head:
        tables.append(Table(tuple(head), tuple(rows), tuple(lines), name))
    return Output(tuple(tables), tuple(said))


def _looks_like_row(cells: Sequence[str], head: Sequence[str]) -> bool:
    """Whether most of the row is there and its first cell is a number, as in tables of times."""
    return len(cells) * 2 >= len(head) and bool(re.fullmatch(r'"?[\d.]+"?', cells[0].strip()))


def _records(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Lines with their cells; a quoted cell may run over several lines."""
    lines = text.splitlines(keepends=True)
    index = 0
    while index < len(lines):
        start = index
        raw = lines[index]
        index += 1
        mark = "\t" if "\t" in raw and raw.count("\t") >= raw.count(",") else ","
        while mark == "," and raw.count('"') % 2 and index < len(lines) and index - start < 50:
            raw += lines[index]
            index += 1
        try:
            cells = next(csv.reader(raw.splitlines(keepends=True), delimiter=mark))
        except (csv.Error, StopIteration):
            cells = []
        yield start + 1, raw, cells


def _named(line: str) -> str:
    found = _PROCESSING.search(line)
    return re.split(r"[/\\]", found["name"])[-1].removesuffix(".py") if found else ""


def _columns(text: str, known: frozenset[str]) -> Output:
    """Tables laid out for people: names, a line of dashes that says how wide each column is, rows."""
    lines = text.splitlines()
    tables: list[Table] = []
    said: list[str] = []
    name, index = "", 0
    while index < len(lines):
        line = lines[index]
        ruled = index + 1 < len(lines) and _DASHES.fullmatch(lines[index + 1]) and "--" in lines[index + 1]
        if not ruled:
            if (title := _TITLE.fullmatch(line)) and title["name"]:
                name = title["name"]
            elif line.strip():
                said.append(line.strip())
            index += 1
            continue
        spans = [found.span() for found in re.finditer(r"-+", lines[index + 1])]
        head = tuple(line[a:b].strip() for a, b in _widened(spans, len(line)))
        index += 2
        rows: list[dict[str, str]] = []
        numbers: list[int] = []
        while index < len(lines) and lines[index].strip():
            cells = [lines[index][a:b].strip() for a, b in _widened(spans, len(lines[index]))]
            rows.append(dict(zip(head, cells, strict=True)))
            numbers.append(index + 1)
            index += 1
        if _is_head(head, known):
            tables.append(Table(head, tuple(rows), tuple(numbers), name))
    return Output(tuple(tables), tuple(said))


def _widened(spans: Sequence[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    """The columns' places, the last one as long as the line."""
    return [*spans[:-1], (spans[-1][0], max(end, spans[-1][1]))]
