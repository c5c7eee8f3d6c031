"""`forwardbook list` and `show`: the database in, its entries as tables or JSON out."""

from __future__ import annotations

from typing import Annotated

import typer

from forwardbook.cli.printing import put

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

    rows = overview(Workspace.find().load(), words or [])
    if as_json:
        put(json.dumps(rows, indent=1))
        return
    from forwardbook.cli.terminal import console

    console().print(overview_table(rows))


def show(
    name: Annotated[str, typer.Argument(help="Class name, full class name, or key.")],
    as_json: Json = False,
) -> None:
    """Show a class: formulas, the source with a cost per line beside it, the proof, what is unresolved."""
    import json

    from forwardbook.registry import find
    from forwardbook.workspace import Workspace

    database = Workspace.find().load()
    key = find(database, name)
    if as_json:
        put(json.dumps({"key": key, **database[key].model_dump(mode="json")}, indent=1))
        return
    from forwardbook.cli.entry_view import entry_view
    from forwardbook.cli.terminal import console

    holder, entry = database.resolved(key)
    console().print(entry_view(key, database[key], entry if holder != key else None))
