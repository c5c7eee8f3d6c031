"""`profile bootstrap`: a list of models and datasets in; links to their local snapshots out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from forwardbook.cli import model_options as options
from forwardbook.cli.exit_codes import REFUSED
from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from forwardbook.pipeline.configured.bootstrap import Plan


def bootstrap(
    file: Annotated[
        Path | None, typer.Argument(help="The list; by default bootstrap.yaml or conf/bootstrap.yaml.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Link without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be linked.")] = False,
    only: Annotated[Literal["models", "datasets"] | None, typer.Option(help="One half of the list.")] = None,
) -> None:
    """Link local snapshots: `HF_SNAPSHOTS_ROOT=... forwardbook profile bootstrap bootstrap.yaml --yes`

    Models lie below `$HF_SNAPSHOTS_ROOT`, datasets below `$DATASETS_ROOT`. Nothing is ever replaced."""
    with options.refusing():
        import os

        from forwardbook.pipeline.configured.bootstrap import BootstrapError, list_file, made, planned

        plan = planned(list_file(file, Path.cwd()), Path.cwd(), os.environ, only)
        _told(plan)
        before = len(plan.problems)
        if plan.new and not dry_run and _agreed(len(plan.new), yes):
            for link in made(plan):
                put(f"linked {link.name}")
        if plan.problems:
            told = "".join(f"\n  {problem}" for problem in plan.problems[before:])
            count = f"{len(plan.problems)} links of {plan.file.name}"
            raise BootstrapError(f"{count} cannot be made{told or ', as said above'}")


def _told(plan: Plan) -> None:
    """The whole plan, before anything is done."""
    for link in plan.there:
        put(f"there      {link.name} -> {link.target}")
    for link in plan.new:
        put(f"to link    {link.name} -> {link.target}")
    for problem in plan.problems:
        say(f"cannot     {problem}")
    if not plan.new and not plan.problems:
        put(
            f"nothing to link: {plan.file.name} is done" if plan.there else f"{plan.file.name} lists nothing"
        )


def _agreed(count: int, yes: bool) -> bool:
    """Whether to go on; where nobody can be asked, the answer is no."""
    if yes:
        return True
    try:
        return typer.confirm(f"Make {count} link{'s' * (count > 1)}?", default=False)
    except typer.Abort:
        say("\nnothing was linked: nobody answered; --yes does not ask")
        raise typer.Exit(REFUSED) from None
