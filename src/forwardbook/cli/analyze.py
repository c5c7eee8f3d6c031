"""`forwardbook analyze-module` and `validate`: classes in, proved entries or what differs out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from forwardbook.cli.agent_options import Analyst, Batch, DryRun, MaxCost, Model
from forwardbook.cli.exit_codes import INTERRUPTED, REFUSED
from forwardbook.cli.given import pairs
from forwardbook.cli.printing import put, say
from forwardbook.cli.spread_options import Cluster, Jobs, spread_of

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Timeout = Annotated[float | None, typer.Option(help="Seconds for the code of the class; by default 600.")]
Memory = Annotated[
    float | None, typer.Option(help="GB for the code of the class, beyond torch itself; by default 12.")
]


def analyze_module(
    names: Annotated[
        list[str], typer.Argument(metavar="CLASS...", help="Class name, full class name, or `file.py:Class`.")
    ],
    derive: Annotated[
        Literal["static", "symbolic", "both"],
        typer.Option(help="`static` reads the code and never imports or runs it."),
    ] = "both",
    force: Annotated[
        bool, typer.Option("--force", help="Analyse again, and overwrite a calculator edited by hand.")
    ] = False,
    as_json: Json = False,
    explain: Annotated[bool, typer.Option("--explain", help="Also say why each line costs this.")] = False,
    config: Annotated[Path | None, typer.Option(help="A JSON file of config fields.")] = None,
    init: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A constructor argument; repeatable.")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=B,S,H",
            help="An input of forward(): a shape, a number (start=4), a list ([b,n; b,m]); repeatable.",
        ),
    ] = None,
    timeout: Timeout = None,
    memory: Memory = None,
    analyst: Analyst = None,
    max_cost: MaxCost = None,
    model: Model = "",
    dry_run: DryRun = False,
    batch: Batch = False,
    jobs: Jobs = 1,
    cluster: Cluster = "",
) -> None:
    """Derive the cost formulas of classes from their forward(), prove them, store them.

    Exit code 1 if a class could not be analysed, or if a judge disagrees with its formulas.
    """
    from forwardbook.cli.agent_options import chosen_analyst, show_preview, show_spent
    from forwardbook.cli.analyze_view import show_analysis, show_outcomes
    from forwardbook.pipeline.analysis.many import analyze_many
    from forwardbook.pipeline.analysis.one import Options, analyze, previewed
    from forwardbook.pipeline.analysis.spread import run_on
    from forwardbook.pipeline.child.job import Limits

    options = Options(
        config,
        dict(pairs("--init", init, "in_features=64")),
        dict(pairs("--input", inputs, "x=batch_size,seq_len")),
        derive,
    )
    limits, spread = Limits.given(memory, timeout), spread_of(jobs, cluster)
    chosen = chosen_analyst(analyst, max_cost, model, dry_run, batch)
    if chosen is not None and dry_run:
        for name in names:
            show_preview(previewed(name, options, chosen, limits=limits))
        return
    try:
        with interruptible("nothing was stored"), _status() as told:

            def started(full: str) -> None:
                told(f"running {full}")

            if len(names) > 1:
                outcomes = analyze_many(
                    names,
                    options,
                    limits=limits,
                    force=force,
                    started=started,
                    chosen=chosen,
                    spread=spread,
                )
                failed = show_outcomes(outcomes, as_json)
            else:
                analysis = analyze(
                    names[0],
                    options,
                    limits=limits,
                    force=force,
                    run=run_on(spread),
                    started=started,
                    chosen=chosen,
                )
    finally:
        show_spent(chosen)
    if len(names) == 1:
        failed = not show_analysis(analysis, as_json, explain)
    if failed:
        raise typer.Exit(REFUSED)


def validate(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="CLASS...", help="By default all that this workspace added.")
    ] = None,
    as_json: Json = False,
    seed: Annotated[int | None, typer.Option(help="Sizes are drawn from it; by default a new one.")] = None,
    timeout: Timeout = None,
    memory: Memory = None,
) -> None:
    """Derive and prove stored classes again, at new random sizes; exit code 1 if anything differs."""
    import json
    import secrets
    from dataclasses import asdict

    from forwardbook.pipeline.child.job import Limits
    from forwardbook.pipeline.validate import validate as checks_of

    seed = secrets.randbelow(2**31) if seed is None else seed
    limits = Limits.given(memory, timeout)
    checks = []
    with interruptible("nothing was changed"), _status() as told:
        for check in checks_of(names or [], seed=seed, limits=limits, started=lambda n: told(f"proving {n}")):
            checks.append(check)
            if not as_json:
                from forwardbook.cli.explain_view import check_view
                from forwardbook.cli.terminal import console

                console().print(check_view(check))
    if as_json:
        put(json.dumps([asdict(check) | {"agrees": check.agrees} for check in checks], indent=1))
    wrong = sum(not check.agrees for check in checks)
    say(f"{len(checks) - wrong} of {len(checks)} agree, at sizes drawn from --seed {seed}")
    if wrong:
        raise typer.Exit(REFUSED)


class _Told:
    """Takes what is going on and shows it with a spinner, on the terminal of standard error only."""

    def __init__(self) -> None:

        from forwardbook.cli.terminal import console

        self._status = console(stderr=True).status("reading the source")

    def __call__(self, doing: str) -> None:
        from rich.text import Text

        self._status.update(Text(doing))

    def __enter__(self) -> _Told:
        self._status.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._status.stop()


def _status() -> _Told:
    return _Told()


@contextmanager
def interruptible(outcome: str) -> Iterator[None]:
    """Ctrl-C inside is a message and exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"interrupted: {outcome}")
        raise typer.Exit(INTERRUPTED) from None
