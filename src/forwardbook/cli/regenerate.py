"""`forwardbook regenerate`: a workspace in; its stale entries derived again and a report of changes out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli.agent_options import Analyst, MaxCost, Model
from forwardbook.cli.exit_codes import INTERRUPTED
from forwardbook.cli.output_files import check_files
from forwardbook.cli.printing import put, say
from forwardbook.cli.spread_options import Cluster, Jobs, spread_of

if TYPE_CHECKING:
    from forwardbook.guard.regenerated import Regenerated
    from forwardbook.pipeline.regenerate.run import Told
    from forwardbook.pipeline.regenerate.stale import Stale


def regenerate(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="CLASS...", help="By default all of this workspace.")
    ] = None,
    jobs: Jobs = 1,
    cluster: Cluster = "",
    every: Annotated[bool, typer.Option("--all", help="Also what is not stale.")] = False,
    library: Annotated[str, typer.Option(help="Only classes of this library, such as transformers.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what is stale and why; run nothing.")
    ] = False,
    report: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Where the report goes, .md or .json; repeatable."),
    ] = None,
    drop_gone: Annotated[
        bool, typer.Option("--drop-gone", help="Remove entries of classes that are not there any more.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite calculators that were edited by hand.")
    ] = False,
    stop_after: Annotated[
        float, typer.Option(min=0, metavar="MINUTES", help="Leave what is not done by then for the next run.")
    ] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON and nothing else.")
    ] = False,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds for the code of each class; by default 600.")
    ] = None,
    memory: Annotated[
        float | None, typer.Option(help="GB for the code of each class, beyond torch itself; by default 12.")
    ] = None,
    analyst: Analyst = None,
    max_cost: MaxCost = None,
    model: Model = "",
) -> None:
    """Derive and prove again what is stale (source, libraries, rules, prompts) and report what changed."""
    from forwardbook.cli.agent_options import chosen_analyst
    from forwardbook.pipeline.child.job import Limits
    from forwardbook.pipeline.regenerate.run import Wanted, regenerate, reports, stale
    from forwardbook.workspace import Workspace

    check_files("--report", report or [])
    wanted = Wanted(
        tuple(names or ()),
        library,
        every,
        spread_of(jobs, cluster),
        Limits.given(memory, timeout),
        chosen_analyst(analyst, max_cost, model, False),
        force,
        drop_gone,
        60 * stop_after,
    )
    workspace = Workspace.find()
    with class_progress() as told:
        if dry_run:
            found = stale(workspace, wanted, told)
            _list(found, as_json)
            return
        try:
            places: list[Path] = []

            def tell(found: Regenerated) -> None:
                places.extend(reports(found, report or [], workspace.root) if found.rows or report else [])

            done = regenerate(workspace, wanted, told, tell=tell)
        except KeyboardInterrupt:
            say("interrupted: what was done is kept, the same command goes on with the others")
            raise typer.Exit(INTERRUPTED) from None
    _tell(done, places, as_json)


def _list(found: Sequence[Stale], as_json: bool) -> None:
    import json

    rows = [{"class": s.entry.full_class_name, "key": s.key, "reasons": list(s.reasons)} for s in found]
    if as_json:
        put(json.dumps({"stale": rows}, indent=1))
        return
    for one in found:
        put(f"{one.entry.full_class_name}: {'; '.join(one.reasons)}")
    say(f"{len(found)} stale")


def _tell(done: Regenerated, places: Sequence[Path], as_json: bool) -> None:
    import json

    from forwardbook.guard.regenerated import STATES, regenerated_json, summary

    if as_json:
        put(json.dumps(regenerated_json(done), indent=1))
    else:
        for state in STATES:
            for row in done.of(state) if state != "same" else ():
                problem = f": {row.problem.splitlines()[0]}" if row.problem else ""
                put(f"{state:<12} {row.full_class_name}{problem}")
        for note in done.notes:
            put(note)
    say(summary(done))
    for path in places:
        say(f"report: {path}")


@contextmanager
def class_progress() -> Iterator[Told]:
    """Takes what is going on: a bar on a terminal; else, in a log, a line for each class that is done."""
    if sys.stderr.isatty():
        from forwardbook.cli.explain_progress import progress

        with progress() as told:
            yield told
        return

    def line(doing: str, done: int, total: int) -> None:
        if not doing.startswith("reading "):
            say(f"[{done}/{total}] {doing}")

    yield line
