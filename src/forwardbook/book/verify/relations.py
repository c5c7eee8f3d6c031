"""Lines of text and relation tables in; each `A verb B` of them with its verdict out."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.inline import Inline, Place, read_place
from forwardbook.book.verify.reading import Line, Row, Table
from forwardbook.book.verify.relation_check import VERBS, check_relation

_VERB = re.compile(rf"^({'|'.join(sorted(map(re.escape, VERBS), key=len, reverse=True))})$")
_OPEN = re.compile(r"^\s*\($")
_LIST = re.compile(r"^\)?\s*(?:,|,?\s*and)\s*$")
_AT = re.compile(r"^\)?\s*(?:,\s*)?(?:at|on|in)\s*(?:line\s*)?$")


def text_relations(line: Line, inline: Inline, context: Context, near: tuple[str, ...]) -> Iterator[Found]:
    """The relations of a line of text: a code span, a verb, and the code spans listed behind it."""
    spans = inline.spans
    verbs = [(at, verb) for at in range(len(spans) - 1) if (verb := _verb_before(inline, at + 1))]
    for at, verb in verbs:
        subject = at - 1 if spans[at].place and at > 0 else at
        if spans[subject].place:
            continue
        for index in _objects(inline, at + 1):
            source, target = spans[subject].text, spans[index].text
            where = _where(inline, index)
            verdict = check_relation(verb, source, target, context, near, where)
            shown = f"`{source}` {verb} `{target}`" + (f" at `{where}`" if where else "")
            yield Found(line.number, "relation", shown, verdict)


def _verb_before(inline: Inline, index: int) -> str:
    between = inline.between(index - 1, index).strip()
    found = _VERB.match(between.removeprefix(")").strip().lower())
    return found[1] if found else ""


def _objects(inline: Inline, index: int) -> Iterator[int]:
    spans = inline.spans
    while index < len(spans):
        if spans[index].place is None:
            yield index
        following = index + 1
        while following < len(spans) and spans[following].place:
            following += 1
        if following >= len(spans) or not _LIST.match(inline.between(following - 1, following)):
            return
        if following + 1 < len(spans) and _verb_before(
            inline, following + 1
        ):  # it begins a relation of its own
            return
        index = following


def _where(inline: Inline, index: int) -> Place | None:
    """The place behind `at`, past the citation of the object."""
    for following in (index + 1, index + 2):
        if following < len(inline.spans) and (place := inline.spans[following].place):
            if _AT.match(inline.between(following - 1, following)):
                return place
            continue
        return None
    return None


def table_relations(table: Table, context: Context) -> Iterator[Found]:
    """One relation per row."""
    where = table.head.index("where") if "where" in table.head else -1
    for row in table.rows:
        if len(row.cells) >= 3:
            yield from _row_relation(row, where, table, context)


def _row_relation(row: Row, where: int, table: Table, context: Context) -> Iterator[Found]:
    source, target = (_name(context.cell(row.cells[column])) for column in (0, 2))
    verb = row.cells[1].replace("`", "").strip().lower()
    if not source or not target:
        return
    place = None
    if 0 <= where < len(row.cells):
        spans = context.cell(row.cells[where]).spans
        place = next((span.place for span in spans if span.place), read_place(row.cells[where]))
    near = context.near(table.heading, [context.cell(cell) for cell in row.cells])
    shown = f"`{source}` {verb} `{target}`" + (f" at `{place}`" if place else "")
    if verb in VERBS:
        yield Found(row.line, "relation", shown, check_relation(verb, source, target, context, near, place))


def _name(inline: Inline) -> str:
    """The first code span of a cell, else the cell."""
    return next(
        (span.text for span in inline.spans if span.place is None), html.unescape(inline.text).strip()
    )
