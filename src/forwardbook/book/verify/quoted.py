"""Rows that show source text beside its place in; whether the text begins on that line out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from forwardbook.book.verify.claims import Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.inline import Place
from forwardbook.book.verify.reading import Row, Table
from forwardbook.book.verify.same import squeezed
from forwardbook.book.verify.spans import file_of

COLUMNS: Final = frozenset({"how", "condition", "call", "operation", "catches", "size", "decorator"})
BELOW: Final = frozenset({"catches"})
"""Where this column leads, the others tell of lines further down."""
LINES: Final = 60
"""So many lines at most belong to one statement."""
_COMMENT = re.compile(r"(?<![\w\"'])#[^\"']*$")


def check_quoted(table: Table, row: Row, context: Context, near: tuple[str, ...]) -> Iterator[Found]:
    """The cells of a row that show source text, held against the row's single line."""
    if "where" not in table.head or len(row.cells) < len(table.head):
        return
    places = [span.place for span in context.cell(row.cells[table.head.index("where")]).spans if span.place]
    path = file_of(places[0], context, near) if len(places) == 1 else None
    if not isinstance(path, str) or places[0].end is not None:
        return
    for column, cell in zip(table.head, row.cells, strict=False):
        spans = context.cell(cell).spans
        if column in COLUMNS and len(spans) == 1 and cell.strip() == f"`{spans[0].text}`":
            further = bool(BELOW & set(table.head)) and column not in BELOW
            verdict = check_text_at(spans[0].text, path, places[0], context, further)
            yield Found(row.line, "quotation", f"`{spans[0].text}` at `{places[0]}`", verdict)


def check_text_at(text: str, path: str, place: Place, context: Context, further: bool = False) -> Verdict:
    """Whether source text begins on a line (`further`: or on one of the next); `…` ends it."""
    wanted = squeezed(text).partition("…")[0].rstrip(",")
    elsewhere: list[int] = []
    for cleaned in (False, True):
        lines = _squeezed(context.sources.lines(path) or (), cleaned)
        starts = _starts(wanted, lines)
        here = [n for n in starts if place.start <= n < place.start + LINES]
        if any(further or n == place.start or _is_opened(lines[place.start - 1 : n - 1]) for n in here):
            return supported(path)
        elsewhere = elsewhere or starts
    if elsewhere:
        return contradicted(f"{path} has this on line {', '.join(map(str, elsewhere[:5]))}", path)
    return unverified(f"{path} has no such text", path)


@lru_cache(maxsize=64)
def _squeezed(lines: tuple[str, ...], cleaned: bool) -> list[str]:
    """The lines without whitespace, on wish without comments; asked for once for each row of a page."""
    return [squeezed(_COMMENT.sub("", line) if cleaned else line) for line in lines]


def _is_opened(lines: list[str]) -> bool:
    """Whether what follows belongs to the statement that these lines begin: `if (` and a new line."""
    return all(not line or line.endswith(("(", "[", "{", "\\")) or line.startswith("#") for line in lines)


def _starts(wanted: str, lines: list[str]) -> list[int]:
    """The numbers of the lines on which the text begins."""
    whole = "".join(lines)
    ends: list[int] = []
    total = 0
    for line in lines:
        total += len(line)
        ends.append(total)
    found = []
    at = whole.find(wanted) if wanted else -1
    number = 0
    while at >= 0:
        while ends[number] <= at:
            number += 1
        found.append(number + 1)
        at = whole.find(wanted, at + 1)
    return found
