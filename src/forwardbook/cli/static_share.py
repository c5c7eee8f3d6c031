"""`forwardbook static-share`: the database in; out how many classes give the same formulas when read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from forwardbook.cli.printing import put

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forwardbook.workspace import Database

Row = dict[str, object]
AGREES, DIFFERS, NOT_FOLLOWED, NOT_COMPARED = "agrees", "differs", "not followed", "not compared"


def static_share(
    library: Annotated[str | None, typer.Option(help="Only classes of this library, such as torch.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Tell for how many classes the source text alone gives the formulas that running them gives."""
    import json

    from forwardbook.workspace import Workspace

    rows = shares(Workspace.find().load(), library, quiet=as_json)
    if as_json:
        put(json.dumps({"summary": summary(rows), "classes": rows}, indent=1))
        return
    from forwardbook.cli.terminal import console

    console().print(share_view(rows))


def shares(database: Database, library: str | None = None, quiet: bool = True) -> list[Row]:
    """One row per entry: its class, whether it is a leaf, what came of reading it, and the reason."""
    from rich.progress import track

    from forwardbook.cli.terminal import console

    rows: list[Row] = []
    keys = list(database)
    for key in track(keys, "reading the database", console=console(), transient=True, disable=quiet):
        raw = database.raw(key)
        with database.reading(key):
            holder = database.raw(str(raw["same_as"])) if raw.get("same_as") else raw
            if library is None or raw.get("library") == library:
                rows.append(_row(key, raw, holder))
    return rows


def _row(key: str, raw: Row, holder: Row) -> Row:
    regimes = cast("list[Row]", holder.get("regimes") or [])
    answers = [cast("Row", one.get("proof") or {}).get("static_agrees") for one in regimes]
    analyses = [cast("Row", one.get("flop_analysis") or {}) for one in regimes]
    validation = cast("Row", holder.get("validation") or {})
    reason = str(validation.get("reason", "")).partition("read from source: ")[2]
    came = NOT_COMPARED
    if False in answers:
        came = DIFFERS
    elif "static" in cast("list[str]", holder.get("derived_by") or []):
        came = AGREES
    elif reason.startswith(NOT_FOLLOWED):
        came = NOT_FOLLOWED
    return {
        "key": key,
        "class": raw.get("full_class_name", ""),
        "library": raw.get("library", ""),
        "leaf": not any(one.get("submodule_calls") for one in analyses),
        "static": came,
        "reason": reason,
    }


def summary(rows: list[Row]) -> dict[str, dict[str, int]]:
    """How many rows of each kind came out how: leaf classes, and those that call others."""
    found = {}
    for kind, leaf in (("leaf", True), ("other", False)):
        came = [row["static"] for row in rows if row["leaf"] is leaf]
        names = (AGREES, DIFFERS, NOT_FOLLOWED, NOT_COMPARED)
        found[kind] = {"classes": len(came), **{name: came.count(name) for name in names}}
    return found


def share_view(rows: list[Row]) -> RenderableType:
    """The shares as a table, with the classes that do not agree and why beneath."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("", "classes", AGREES, DIFFERS, NOT_FOLLOWED, NOT_COMPARED, "share"):
        table.add_column(column, justify="left" if not column else "right")
    for kind, counts in summary(rows).items():
        total = counts["classes"]
        share = f"{100 * counts[AGREES] / total:.1f} %" if total else "-"
        label = {"leaf": "leaf classes", "other": "classes that call others"}[kind]
        table.add_row(label, *(str(number) for number in counts.values()), share)
    others = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("class", "static", "reason"):
        others.add_column(column, overflow="fold")
    for row in rows:
        if row["static"] in (DIFFERS, NOT_FOLLOWED):
            others.add_row(str(row["key"]), str(row["static"]), str(row["reason"]))
    note = Text("Classes are read by: forwardbook analyze-module CLASS --derive both", "dim")
    return Group(table, "", *([others] if others.row_count else []), note)
