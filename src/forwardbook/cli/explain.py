"""`forwardbook explain`: paths in; pages whose every claim was checked, and what became of each, out."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from forwardbook.cli.agent_options import Analyst, DryRun, MaxCost, Model
from forwardbook.cli.exit_codes import INTERRUPTED, REFUSED
from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from forwardbook.pipeline.explain.pages import Report

Resolver = Literal["own", "ty", "both"]


def explain(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Source files or folders.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Where pages go; by default context/docs/code-explained or docs/code-explained."),
    ] = None,
    repository: Annotated[
        bool, typer.Option("--repository", help="Write the set of five documents for a folder.")
    ] = False,
    focus: Annotated[
        str, typer.Option(metavar="PACKAGE", help="The package or folder that the set treats in depth.")
    ] = "",
    requirements: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A checklist in Markdown, answered item by item.")
    ] = None,
    feature: Annotated[str, typer.Option(metavar="NAME", help="What several files make up together.")] = "",
    root: Annotated[
        Path | None, typer.Option(metavar="DIR", help="What paths are relative to; found by default.")
    ] = None,
    resolver: Annotated[
        Resolver, typer.Option(help="Who resolves calls; `ty` runs that program if it is installed.")
    ] = "own",
    jobs: Annotated[int, typer.Option(min=1, help="Processes that read and write at once.")] = 1,
    cluster: Annotated[
        str, typer.Option(metavar="tcp://HOST:PORT", help="A Dask scheduler whose workers make the pages.")
    ] = "",
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if a page would change.")] = (
        False
    ),
    force: Annotated[bool, typer.Option("--force", help="Overwrite pages that were edited by hand.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 if a statement was left out of a page.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the facts as JSON, write nothing.")] = False,
    analyst: Analyst = None,
    max_cost: MaxCost = None,
    model: Model = "",
    dry_run: DryRun = False,
    review: Annotated[
        bool, typer.Option("--review", help="Have the analyst read the finished pages and list doubts.")
    ] = False,
) -> None:
    """Document files, a folder or a repository without running any of it; each claim is checked first."""
    from forwardbook.cli.agent_options import chosen_analyst, show_preview, show_spent
    from forwardbook.cli.spread_options import spread_of
    from forwardbook.pipeline.explain.pages import Request, explain, facts_json
    from forwardbook.pipeline.explain.prompts import prompts

    request = Request(
        tuple(paths), out, repository, focus, requirements, feature, root, resolver, jobs, check, force
    )
    chosen = chosen_analyst(analyst, max_cost, model, dry_run)
    if review and chosen is None:
        raise typer.BadParameter("say who reviews: --analyst api, sdk or replay", param_hint="'--review'")
    request = replace(request, review=review)
    if chosen is not None and dry_run:
        for name, seen in prompts(request, chosen):
            say(f"{name}:")
            show_preview(seen)
        return
    request = replace(request, chosen=chosen, cluster=spread_of(jobs, cluster).cluster)
    if as_json:
        for piece in facts_json(request):
            put(piece)
        return
    from forwardbook.cli.explain_progress import progress

    try:
        with progress() as told:
            report = explain(request, told)
    except KeyboardInterrupt:
        say("interrupted: finished pages are kept, the same command goes on with the others")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        show_spent(chosen)
    gc.freeze()  # the process is about to end: its facts need not be searched for cycles first
    _tell(report)
    if report.failed or (strict and report.left_out):
        raise typer.Exit(REFUSED)


def _tell(report: Report) -> None:
    """What became of each page on standard output; what is wrong, and what to do, beside it."""
    for page in report.pages:
        put(f"{page.outcome:<12} {page.path}{page.figures}")
        for line in page.wrong:
            say(f"  {line}")
        for line in page.left_out:
            say(f"  left out: {line}")
    for line in report.problems:
        say(line)
    say(report.closing)
