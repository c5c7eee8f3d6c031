"""The options of commands that may ask a model: what a person typed in, the chosen analyst out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from forwardbook.agents.choose import Chosen
    from forwardbook.agents.requests import Preview

Analyst = Annotated[
    Literal["static", "api", "sdk", "replay"] | None,
    typer.Option(help="Who is asked about what no engine settles; `static`, the default, asks nobody."),
]
MaxCost = Annotated[
    float | None, typer.Option(metavar="DOLLARS", help="The most that asking may cost; by default 5.")
]
Model = Annotated[
    str, typer.Option("--model", "--analyst-model", metavar="NAME", help="The model that is asked.")
]
AnalystModel = Annotated[
    str, typer.Option("--analyst-model", metavar="NAME", help="The model of language that is asked.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what would be sent and its worst cost; send nothing.")
]

Batch = Annotated[
    bool, typer.Option("--batch", help="Ask about all classes in one Message Batch, at half the price.")
]


def chosen_analyst(
    analyst: Literal["static", "api", "sdk", "replay"] | None,
    max_cost: float | None,
    model: str,
    dry_run: bool,
    batch: bool = False,
) -> Chosen | None:
    """The analyst of the options, else of the user's configuration; None where nobody is asked."""
    from forwardbook.agents.choose import choose
    from forwardbook.agents.settings import config_path

    if analyst is None and not config_path().exists():
        if dry_run or batch or max_cost is not None or model:
            raise typer.BadParameter("say who is asked: --analyst api, sdk or replay")
        return None
    chosen = choose(analyst, max_cost, model=model, dry_run=dry_run, batch=batch)
    if chosen.settings.documentation and chosen.backend == "api":
        say("documentation servers are not asked: only --analyst sdk has them")
    return None if chosen.backend == "static" else chosen


def show_spent(chosen: Chosen | None) -> None:
    """What asking cost, by role, on standard error; nothing where nobody was asked."""
    for line in chosen.ledger.report() if chosen is not None and chosen.ledger.by_role else ():
        say(f"spent: {line}")


def show_preview(seen: Preview | None) -> None:
    """The exact request on standard output, its worst cost on standard error."""
    if seen is None:
        say("nobody would be asked: nothing is left open")
        return
    put(seen.text)
    say(
        f"not sent; this request could cost at most ${seen.first / 1e9:.4f}, and "
        f"${seen.whole / 1e9:.4f} if every turn were used (--max-cost bounds it)",
    )
