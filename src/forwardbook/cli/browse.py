"""`forwardbook list` and `show`: the database in, its entries as tables or JSON out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli.printing import put

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import RenderableType

    from forwardbook.workspace import Database

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def list_entries(
    words: Annotated[
        list[str] | None, typer.Argument(help="Only classes whose name contains each of these.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the classes of the database: verdict, regimes, where they are written."""
    import json

    from forwardbook.cli.overview import overview, overview_table
    from forwardbook.workspace import Workspace

    rows = overview(Workspace.find(), words or [])
    if as_json:
        put(json.dumps(rows, indent=1))
        return
    from forwardbook.cli.terminal import console

    console().print(overview_table(rows))


def show(
    name: Annotated[str, typer.Argument(help="Class name, full class name, or key.")],
    regime: Annotated[
        str | None, typer.Option(help="Show this regime, or those of this way to call the class, alone.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every regime in full.")] = False,
    as_json: Json = False,
) -> None:
    """Show a class: formulas, calls, the source with a cost per line beside it, the proof, open questions."""
    import json

    from forwardbook.cli.lookup import composed_class
    from forwardbook.registry import find
    from forwardbook.workspace import Workspace

    if regime is not None and every:
        raise typer.BadParameter("--regime shows one, --all every regime: give one of the two")
    workspace = Workspace.find()
    view: RenderableType
    entry: BaseModel
    if (found := composed_class(workspace, name)) is not None:
        from forwardbook.cli.composed_view import composed_view

        key, entry = found.key, found.model.get(found.key)
        view = "" if as_json else composed_view(found.model, key, not every, regime)
    else:
        database = workspace.load()
        key = find(database, name)
        entry = database[key]
        view = "" if as_json else _older_view(database, key, regime)
    if as_json:
        put(json.dumps({"key": key, **entry.model_dump(mode="json")}, indent=1))
        return
    from forwardbook.cli.terminal import console

    console().print(view)


def _older_view(database: Database, key: str, regime: str | None) -> RenderableType:
    """An entry of the older database, every regime in full, or one."""
    from forwardbook.cli.entry_view import entry_view
    from forwardbook.errors import ForwardbookError

    holder, entry = database.resolved(key)
    if regime is not None:
        shown = tuple(one for one in entry.regimes if one.name == regime)
        if not shown:
            known = ", ".join(one.name for one in entry.regimes) or "none"
            raise ForwardbookError(f"showing {key}: there is no regime {regime!r}; its regimes: {known}")
        entry = entry.model_copy(update={"regimes": shown})
    return entry_view(key, database[key], entry)
