"""`forwardbook coverage`: how many classes of each library have formulas, and how good, out as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from forwardbook.entries.figures import Figures
    from forwardbook.workspace import Workspace


def coverage(
    library: Annotated[str, typer.Option(help="Only this library.")] = "",
    most: Annotated[int, typer.Option(min=0, help="How many reasons to list for each library.")] = 12,
    at_ordinary: Annotated[
        bool,
        typer.Option("--ordinary", help="Hold drawn classes against runs at ordinary sizes instead."),
    ] = False,
    sample: Annotated[int, typer.Option(min=1, help="How many classes --ordinary draws.")] = 300,
    seed: Annotated[int, typer.Option(help="They are drawn from it.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Families at once; each runs in its own process.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Tell how many classes were found, reached, exact, bounded, wrong or unproved, by library and reason.

    With `--ordinary`: draws classes that have own costs and calls, runs a model of each family in its default
    config at 1, 2 and 8 samples of 1 to 2,048 tokens in 16 and 32 bit, and counts at how many of these points
    the entries answer and how many answers equal the run in every quantity. Exit code 1 where one does not.
    """
    if at_ordinary:
        from forwardbook.cli.ordinary import ordinary

        ordinary(library, sample, seed, jobs, as_json)
        return
    from dataclasses import asdict

    from forwardbook.pipeline.catalogue.coverage_of_database import coverage_with
    from forwardbook.pipeline.catalogue.record import known_catalogue
    from forwardbook.workspace import Workspace

    workspace = Workspace.find()
    shares = coverage_with(known_catalogue(workspace), workspace.load(), library)
    composed, size = _composed(workspace, library)
    for one in (one for one in shares if not one.built):
        say(
            f"{one.library}: no catalogue was built here; a class without an entry was not tried: "
            f"forwardbook catalogue build --library {one.library}"
        )
    if as_json:
        import json

        told: dict[str, object] = {one.library: asdict(one) for one in shares}
        put(json.dumps(told | {"composed": asdict(composed) | {"bytes_on_disk": size}}, indent=1))
        return
    from forwardbook.cli.catalogue_view import coverage_view
    from forwardbook.cli.coverage_view import composed_view
    from forwardbook.cli.terminal import console

    console().print(coverage_view(shares, most))
    if composed.classes:
        console().print("", composed_view(composed, size), sep="\n")


def _composed(workspace: Workspace, library: str) -> tuple[Figures, int]:
    """The figures of the entries of own costs and calls, and the bytes of all of their files."""
    from forwardbook.entries.figures import figures
    from forwardbook.workspace.entry_store import entry_stores, model_of

    stores = entry_stores(workspace)
    entries = model_of(stores).entries.values()
    folders = {one.folder.resolve(): one.bytes_on_disk for one in stores}
    return figures(one for one in entries if library in ("", one.library)), sum(folders.values())
