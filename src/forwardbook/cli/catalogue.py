"""`forwardbook catalogue build` and `totals`: a package in; its classes proved, stored, measured out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli.exit_codes import INTERRUPTED, REFUSED
from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from forwardbook.pipeline.catalogue.build import Building, Done
    from forwardbook.pipeline.catalogue.plan import Unit
    from forwardbook.pipeline.catalogue.record import UnitResult
    from forwardbook.pipeline.reprove.again import EntryAgain
    from forwardbook.workspace import Workspace

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def build_group() -> typer.Typer:
    """The group `catalogue`."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="markdown",
        help="Every module class of a package: found, reached, derived, proved, stored.",
    )
    group.callback()(_group)
    group.command("build")(build)
    group.command("totals")(totals)
    return group


def _group() -> None:
    """Every module class of a package: found, reached, derived, proved, stored."""


def build(
    library: Annotated[str, typer.Option(help="The package: torch, transformers, or any other.")] = "torch",
    only: Annotated[
        str,
        typer.Option(metavar="PATTERN[,...]", help="Only units with a name or a class that fits one."),
    ] = "",
    jobs: Annotated[int, typer.Option(min=1, help="Units that are worked on at once.")] = 1,
    budget: Annotated[
        float, typer.Option(help="Seconds of processor time for one unit; large ones get more.")
    ] = 240.0,
    memory: Annotated[float, typer.Option(help="GB for the code of one unit, beyond torch itself.")] = 3.0,
    seed: Annotated[int | None, typer.Option(help="Sizes of proofs are drawn from it.")] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many units, drawn at random from --seed.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Work on units anew that are known.")] = False,
    retry: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Work anew on classes that failed so, as timeout or refuted."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List units and classes; run nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Find every module class of a package, reach it in a real forward(), derive, prove, store its formulas.

    What is done is kept: an interrupted build goes on where it ended, and only what changed is done again.
    """
    from dataclasses import replace

    from forwardbook.cli.catalogue_view import Progress, plan_view, summary_view
    from forwardbook.cli.terminal import console
    from forwardbook.pipeline.analysis.one import SEED
    from forwardbook.pipeline.catalogue.plan import planned

    seed = SEED if seed is None else seed
    whole = planned(library, only)
    plan = replace(whole, units=_drawn(whole.units, sample, seed)) if sample else whole
    if dry_run:
        console().print(plan_view(plan))
        return
    from forwardbook.pipeline.catalogue.build import Building
    from forwardbook.pipeline.catalogue.build import build as built
    from forwardbook.pipeline.catalogue.journal import Journal
    from forwardbook.pipeline.catalogue.merge import merge
    from forwardbook.pipeline.catalogue.record import OF_USERS
    from forwardbook.pipeline.store import check_writable
    from forwardbook.workspace import Workspace

    workspace = Workspace.find()
    check_writable(workspace)
    how = Building(
        jobs=jobs, budget=budget, memory_gb=memory, seed=seed, force=force, retry=frozenset(retry or ())
    )
    done: list[Done] = []
    try:
        with Progress(len(plan.units)) as shown:
            for one in built(plan, workspace, how, shown.started):
                done.append(one)
                shown.done(one)
    except KeyboardInterrupt:
        kept = f"{len(done)} of {len(plan.units)} units are kept"
        say(f"interrupted: {kept}; the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None
    results = _settled([one.result for one in done], library, workspace, how)
    merged = merge(plan, results, workspace, whole=not only and sample is None)
    journal = Journal(workspace, library)
    journal.clear(one.result.unit for one in done)
    _tell(library, done, as_json)
    if not as_json:
        console().print(summary_view(library, results))
    known = sum(one.known for one in done)
    for name in sorted(one.name for unit in results for one in unit.record.classes if one.way == OF_USERS):
        say(f"{name} stays as it was analysed with --init, --input or --config")
    say(
        f"{merged.stored} entries stored, {merged.sharing} of them copies that share another's formulas; "
        f"{known} of {len(done)} units were known" + (f"; drawn with --seed {seed}" if sample else "")
    )


def _settled(
    results: list[UnitResult], library: str, workspace: Workspace, how: Building
) -> list[UnitResult]:
    """The results, where stored proofs that they do not simply replace were measured again."""
    from pathlib import Path

    from forwardbook.pipeline.catalogue.record import read_catalogue
    from forwardbook.pipeline.catalogue.settle import settled
    from forwardbook.pipeline.reprove.again import RECORDED, Reproof, reprove
    from forwardbook.pipeline.spread import Spread

    database = workspace.load()

    def measured(keys: Sequence[str]) -> Iterator[EntryAgain]:
        again = Reproof(how.seed, spread=Spread(how.jobs), worker=RECORDED)
        for count, one in enumerate(reprove(keys, database, again, Path.cwd()), 1):
            say(f"stored before, measured again: {count}/{len(keys)} {one.full_class_name}: {one.state}")
            yield one

    found = settled(results, library, database, read_catalogue(workspace), measured)
    for name, why in sorted(found.stay.items()):
        say(f"{name} stays as it was stored: {why}")
    for name in found.joined:
        say(f"{name}: the peak took up states that the stored proof has")
    for name in found.gone:
        say(f"{name} is proved no more: what was stored does not hold at points of its own proof")
    return found.results


def totals(
    library: Annotated[str, typer.Option(help="The package.")] = "transformers",
    only: Annotated[
        str,
        typer.Option(metavar="PATTERN[,...]", help="Only units with a name or a class that fits one."),
    ] = "",
    jobs: Annotated[int, typer.Option(min=1, help="Units that are worked on at once.")] = 1,
    as_json: Json = False,
) -> None:
    """Call a model of each type; hold what was measured against its formula and the sum over its tree.

    The figures go into catalogue.json and onto the site. Exit code 1 where a model that ran differs from
    what an entry says of it.
    """
    from forwardbook.cli.catalogue_view import totals_view
    from forwardbook.cli.terminal import console
    from forwardbook.pipeline.catalogue.plan import planned
    from forwardbook.pipeline.catalogue.record import ModelTotals, read_catalogue
    from forwardbook.pipeline.catalogue.totals import keep
    from forwardbook.pipeline.catalogue.totals import totals as measured
    from forwardbook.pipeline.spread import Spread
    from forwardbook.pipeline.store import check_writable
    from forwardbook.workspace import Workspace

    workspace = Workspace.find()
    check_writable(workspace)
    plan, catalogue = planned(library, only), read_catalogue(workspace)
    found: dict[str, ModelTotals] = {}
    for unit, one in measured(plan, workspace.load(), catalogue, Spread(jobs)):
        found |= one
        say(f"{unit.name}: {sum(each.agrees for each in one.values())} of {len(one)} model types agree")
    keep(plan, found, workspace)
    if as_json:
        import json

        put(json.dumps({name: one.model_dump(mode="json") for name, one in sorted(found.items())}, indent=1))
    else:
        console().print(totals_view(found))
    ran = [one for one in found.values() if one.measured]
    spoken = [one for one in ran if one.calls]
    say(
        f"{sum(one.agrees for one in spoken)} of {len(spoken)} model types that an entry speaks of agree; "
        f"{len(ran)} ran, {len(found)} were tried"
    )
    if not spoken or not all(one.agrees for one in spoken):
        raise typer.Exit(REFUSED)


def _drawn(units: tuple[Unit, ...], sample: int, seed: int) -> tuple[Unit, ...]:
    """So many units, in their order."""
    import random

    places = sorted(random.Random(seed).sample(range(len(units)), min(sample, len(units))))
    return tuple(units[place] for place in places)


def _tell(library: str, done: list[Done], as_json: bool) -> None:
    if not as_json:
        return
    import json
    from dataclasses import asdict

    from forwardbook.pipeline.catalogue.coverage import share
    from forwardbook.pipeline.catalogue.record import LibraryRecord

    record = LibraryRecord(units={one.result.unit: one.result.record for one in done})
    spent = {one.result.unit: one.result.spent.model_dump() for one in done if not one.known}
    put(json.dumps({"coverage": asdict(share(library, record)), "spent": spent}, indent=1))
