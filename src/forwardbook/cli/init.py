"""`forwardbook init`: a repository in; out a workspace, and a line for each file that was written or left."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from forwardbook.cli.printing import put


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="By default the current folder.")] = Path("."),
    name: Annotated[str, typer.Option(help="What the site is called; by default as the folder.")] = "",
    branch: Annotated[str, typer.Option(help="The branch that the workflows watch.")] = "main",
    site_url: Annotated[str, typer.Option(help="Where the site will be published.")] = "",
    ci: Annotated[bool, typer.Option(help="Also write workflows and pre-commit hooks.")] = True,
    shown: Annotated[
        str,
        typer.Option("--print", metavar="FILE", help="Print the text of one of the files; write nothing."),
    ] = "",
) -> None:
    """Make a repository a workspace: database, site, workflows, hooks; what is there is left as it is."""
    from forwardbook.pipeline.init import Choices, initialise, texts

    if not re.fullmatch(r"[\w./-]+", branch):
        raise typer.BadParameter(f"{branch!r} is no name of a branch", param_hint="'--branch'")
    choices = Choices(name, branch, site_url, ci)
    if shown:
        found = texts(folder, choices)
        if shown not in found:
            raise typer.BadParameter(f"{shown!r} is none of {', '.join(found)}", param_hint="'--print'")
        put(found[shown], end="")
        return
    placed = initialise(folder, choices)
    for one in placed:
        put(f"{one.outcome:<9} {one.name}{f': {one.advice}' if one.advice else ''}")
    from forwardbook.cli.printing import say

    kept = [one.name for one in placed if one.outcome == "kept"]
    if kept:
        say(f"left as they are, because they were there: {', '.join(kept)}")
    say("next: forwardbook analyze-module path/to/file.py:Class, then commit module_db.json")
