"""The list of classes: raw entries in, one row for each out, without validating any."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, cast

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.cli.terminal import verdict_text

if TYPE_CHECKING:
    from forwardbook.workspace import Database

Row = dict[str, object]


def overview(database: Database, words: Collection[str]) -> list[Row]:
    """One row per entry whose key or full name contains every word, in any case."""
    named = {key: f"{key} {database.head(key).full_class_name}".lower() for key in database}
    wanted = (key for key, name in named.items() if all(word.lower() in name for word in words))
    return [_row(key, database) for key in wanted]


def overview_table(rows: list[Row]) -> RenderableType:
    """The rows as a table, with the number of classes per verdict beneath."""
    verdicts = [str(row["verdict"]) for row in rows]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in sorted(set(verdicts)))
    total = f"{len(rows)} {'class' if len(rows) == 1 else 'classes'}"
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("key", "class", "verdict", "regimes", "derived by"):
        table.add_column(column, overflow="fold")
    for row in rows:
        same = f"as {row['same_as']}" if row["same_as"] else ", ".join(cast("list[str]", row["regimes"]))
        derived = ", ".join(cast("list[str]", row["derived_by"]))
        table.add_row(
            Text(str(row["key"])),
            Text(str(row["class"]), "dim"),
            verdict_text(str(row["verdict"])),
            same,
            derived,
        )
    summary = Text(f"{total}: {counts}" if rows else f"{total} in the database")
    return Group(table, "", summary) if rows else summary


def _row(key: str, database: Database) -> Row:
    from forwardbook.workspace.database import DatabaseError

    try:
        one = database.listed(key)
    except DatabaseError:
        return {"key": key, "class": database.head(key).full_class_name, "library": ""} | _DAMAGED
    return {
        "key": key,
        "class": one.full_class_name,
        "library": one.library,
        "verdict": one.validation.verdict,
        "regimes": [regime.name for regime in one.regimes],
        "derived_by": one.derived_by,
        "same_as": one.same_as,
        "unresolved": len(one.unresolved),
    }


_DAMAGED: Final[Row] = {
    "verdict": "damaged",
    "regimes": [],
    "derived_by": [],
    "same_as": None,
    "unresolved": 0,
}
"""Of an entry that is not what the schema says; `show` tells what is wrong with it."""
