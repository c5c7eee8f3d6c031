"""`forwardbook reprove`: stored entries in, whether their formulas hold at fresh, larger sizes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli.exit_codes import REFUSED
from forwardbook.cli.printing import put, say
from forwardbook.cli.spread_options import Cluster, Jobs, spread_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forwardbook.pipeline.reprove.again import EntryAgain


def reprove(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="CLASS...", help="By default every entry, shipped ones too.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many that have formulas, drawn at random from --seed.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Entries and sizes are drawn from it; by default a new one, printed.")
    ] = None,
    scale: Annotated[int, typer.Option(min=1, help="How many times larger than in a proof sizes are.")] = 10,
    library: Annotated[str, typer.Option(help="Only entries of this library.")] = "",
    narrow: Annotated[
        bool,
        typer.Option(
            "--narrow",
            help="Run models also where conditions of their other classes are broken, and give a regime that "
            "fails there the condition that it needs.",
        ),
    ] = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Run models with more layers, and where one of them is as no regime says, say of regimes of "
            "its place in which layers they were seen.",
        ),
    ] = False,
    each: Annotated[
        bool,
        typer.Option(
            "--each",
            help="Near a model's own sizes: change those of inputs one by one and those no formula names, "
            "take few layers and many, and give a regime that one size makes wrong its bound.",
        ),
    ] = False,
    peaks: Annotated[
        bool,
        typer.Option(
            "--peaks",
            help="Hold each peak against all states of live storage, at sizes where one that it does not "
            "name would be the largest, and add those that a run there has.",
        ),
    ] = False,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded",
            help="At the very points of their proofs: what gives other numbers there was proved of other "
            "code, or of another call.",
        ),
    ] = False,
    jobs: Jobs = 1,
    cluster: Cluster = "",
    timeout: Annotated[float | None, typer.Option(help="Seconds for one entry.")] = None,
    memory: Annotated[float | None, typer.Option(help="GB for the code of a class.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Measure stored classes again at larger sizes; exit code 1, and the class, where a formula is wrong.

    Nothing is derived: the formulas as they are stored must give every number of every line that is measured.
    With --narrow and --each what a regime needs is stored among its conditions, with --deep of which layers
    it is, with --peaks which states its peak lacked.
    """
    import json
    import secrets
    from functools import partial
    from pathlib import Path

    from forwardbook.analyzers.ops import RULES_VERSION
    from forwardbook.pipeline.child.job import Limits
    from forwardbook.pipeline.reprove.again import (
        DEEP,
        EACH,
        NARROWING,
        PEAKS,
        RECORDED,
        WORKER,
        Reproof,
        drawn,
        is_fit,
    )
    from forwardbook.pipeline.reprove.again import reprove as measured
    from forwardbook.pipeline.reprove.narrowed import narrowed
    from forwardbook.registry import find
    from forwardbook.workspace import Workspace

    modes = {NARROWING: narrow, DEEP: deep, EACH: each, PEAKS: peaks, RECORDED: recorded}
    asked = [worker for worker, is_asked in modes.items() if is_asked]
    if len(asked) > 1:
        told = ", ".join(f"--{name}" for name in ("narrow", "deep", "each", "peaks", "recorded"))
        raise typer.BadParameter(f"One at a time: each of {told} looks elsewhere.")
    seed = secrets.randbelow(2**31) if seed is None else seed
    workspace = Workspace.find()
    database = workspace.load()
    keys = [find(database, name) for name in names or []] or list(database)
    worker = asked[0] if asked else WORKER
    keys = [key for key in keys if not library or database.head(key).library == library]
    keys = drawn(keys, sample, seed, partial(is_fit, database=database, worker=worker))
    how = Reproof(seed, scale, Limits.given(memory, timeout), spread_of(jobs, cluster), worker=worker)
    found: list[EntryAgain] = []
    for one in measured(keys, database, how, Path.cwd()):
        found.append(one)
        say(f"{len(found)}/{len(keys)} {one.full_class_name}: {one.state}{one.reason and f' ({one.reason})'}")
        # at once: a long run may be ended before its summary
        for text in (*_differences(one), *_needs(one), *_places(one), *_lacked(one)):
            say(text)
        if changed := narrowed([one], database):
            workspace.save(changed, rules_version=RULES_VERSION)
            database = workspace.load()
    found.sort(key=lambda one: one.key)
    if as_json:
        rows = [one.model_dump(mode="json") | {"state": one.state} for one in found]
        put(json.dumps({"seed": seed, "scale": scale, "entries": rows}, indent=1))
    else:
        from forwardbook.cli.terminal import console

        console().print(_view(found))
    counts = {
        state: sum(one.state == state for one in found)
        for state in ("equal", "uncovered", "different", "unmeasured")
    }
    told = ", ".join(f"{count} {state}" for state, count in counts.items())
    larger = "" if worker != WORKER else f" {scale} times larger,"
    say(f"{len(found)} entries: {told}; sizes{larger} drawn with --seed {seed}")
    if counts["different"] or counts["uncovered"] or not counts["equal"]:
        raise typer.Exit(REFUSED)


def _view(found: list[EntryAgain]) -> RenderableType:
    """Each regime that differs, with the sizes and numbers; then what could not be measured, and why."""
    from rich.console import Group
    from rich.text import Text

    lines: list[RenderableType] = []
    for one in found:
        for text in _differences(one):
            lines.append(Text(text, "" if text.startswith(" ") else "bold red"))
    lines += [
        f"{one.full_class_name}: not measured: {one.reason}" for one in found if one.state == "unmeasured"
    ]
    regimes = [regime for one in found for regime in one.regimes]
    equal = sum(regime.state == "equal" for regime in regimes)
    points = sum(regime.points for regime in regimes)
    lines.append(f"{equal} of {len(regimes)} regimes measured, {points} points, all numbers equal in these")
    return Group(*lines)


def _differences(one: EntryAgain) -> list[str]:
    """Each regime of an entry that differs, with the sizes, and beneath it the numbers."""
    lines: list[str] = []
    for regime in (regime for regime in one.regimes if regime.differences):
        sizes = ", ".join(f"{name}={value}" for name, value in sorted(regime.sizes.items()))
        beside = "right, and beside it a call that no regime gives,"
        said = "wrong" if regime.state == "different" else beside
        lines.append(f"{one.full_class_name}, {regime.name}: {said} at {sizes}")
        lines += [f"  {text}" for text in regime.differences]
    return lines


def _needs(one: EntryAgain) -> list[str]:
    """What regimes of an entry need beside their conditions."""
    return [f"  {regime.name} needs {text}" for regime in one.regimes for text in regime.needs]


def _places(one: EntryAgain) -> list[str]:
    """Where regimes of an entry are said to be called now."""
    changed = (regime for regime in one.regimes if regime.places)
    return [f"  {regime.name} is called as {', '.join(regime.places)}" for regime in changed]


def _lacked(one: EntryAgain) -> list[str]:
    """How many states of live storage the peaks of regimes were found to lack."""
    joined = ((regime.name, len(regime.states)) for regime in one.regimes if regime.states)
    return [f"  {name}: {count} of the states of its peak are new" for name, count in joined]
