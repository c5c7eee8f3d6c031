"""The list of classes: raw entries of both databases in, a row for each class out, without validating any."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, cast

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.cli.terminal import verdict_text

if TYPE_CHECKING:
    from forwardbook.workspace import Database, Workspace
    from forwardbook.workspace.entry_store import EntryStore

Row = dict[str, object]


def overview(workspace: Workspace, words: Collection[str]) -> list[Row]:
    """One row per class whose key or full name contains every word, in any case; sorted by key."""
    from forwardbook.cli.lookup import older_alone
    from forwardbook.workspace.entry_store import entry_stores

    found: dict[str, Row] = {}
    for store in reversed(entry_stores(workspace)):  # what the workspace has goes first
        found |= {
            key: _composed_row(key, store) for key, full in store.names.items() if _has(key, full, words)
        }
    database = workspace.load()
    older = older_alone(
        database, {str(row["class"]) for row in found.values() if row["verdict"] != "unproved"}
    )
    rows = {key: _row(key, database) for key in older if _has(key, database.head(key).full_class_name, words)}
    proved = {row["class"] for row in rows.values()}
    rows |= {key: row for key, row in found.items() if row["class"] not in proved}
    return [rows[key] for key in sorted(rows)]


def overview_table(rows: list[Row]) -> RenderableType:
    """The rows as a table, with the number of classes per verdict beneath."""
    verdicts = [str(row["verdict"]) for row in rows]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in sorted(set(verdicts)))
    total = f"{len(rows)} {'class' if len(rows) == 1 else 'classes'}"
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("key", "verdict", "regimes", "written at"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(
            Text(str(row["key"])),
            verdict_text(str(row["verdict"])),
            Text(_regimes(row)),
            Text(f"{row['file']}:{row['line']}" if row["file"] else "", "dim"),
        )
    summary = Text(f"{total}: {counts}" if rows else f"{total} in the database")
    return Group(table, "", summary) if rows else summary


def _has(key: str, full: str, words: Collection[str]) -> bool:
    named = f"{key} {full}".lower()
    return all(word.lower() in named for word in words)


def _regimes(row: Row) -> str:
    """How many there are, and of how many ways to call the class where they are of several."""
    if row["same_as"]:
        return f"as {row['same_as']}"
    regimes, signatures = (len(cast("list[str]", row[name])) for name in ("regimes", "signatures"))
    return f"{regimes} of {signatures} signatures" if signatures > 1 else str(regimes)


def _composed_row(key: str, store: EntryStore) -> Row:
    from forwardbook.workspace.database import DatabaseError

    try:
        one = store.listed(key)
    except DatabaseError:
        return {"key": key, "class": store.names[key], "library": ""} | _DAMAGED
    return {
        "key": key,
        "class": one.full_class_name,
        "library": one.library,
        "verdict": one.verdict,
        "regimes": [regime.name for regime in one.regimes],
        "signatures": [*dict.fromkeys(regime.signature for regime in one.regimes)],
        "derived_by": ["symbolic"],
        "same_as": one.same_as,
        "unresolved": len(one.unresolved),
        "file": one.file,
        "line": one.line_start,
    }


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
        "signatures": [],
        "derived_by": one.derived_by,
        "same_as": one.same_as,
        "unresolved": len(one.unresolved),
        "file": one.code_location.file,
        "line": one.code_location.line_start,
    }


_DAMAGED: Final[Row] = {
    "verdict": "damaged",
    "regimes": [],
    "signatures": [],
    "derived_by": [],
    "same_as": None,
    "unresolved": 0,
    "file": "",
    "line": 0,
}
"""Of an entry that is not what the schema says; `show` tells what is wrong with it."""
