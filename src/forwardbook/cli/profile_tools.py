"""`profile nsys|ncu`: a model and a range in; the exact command, checked, and run where the tool is, out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli import model_options as options
from forwardbook.cli.exit_codes import INCOMPLETE
from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from forwardbook.profiling.tools.commands import ToolCommand

Model = Annotated[str, typer.Argument(help="As of `profile run`; what follows -- goes to it.")]
More = Annotated[list[str] | None, typer.Argument(metavar="-- OPTIONS", help="Options of `profile run`.")]
Chosen = Annotated[str | None, typer.Option("--range", help="An expression of the tool; by default decode.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for plan, log and report.")]
Dry = Annotated[bool, typer.Option("--dry-run", help="Write and print the plan alone.")]
Domain = Annotated[
    str, typer.Option(help="Of the ranges: empty where torch.cuda.nvtx makes them, else forwardbook.")
]


def nsys(
    model: Model,
    more: More = None,
    chosen: Chosen = None,
    instances: Annotated[int, typer.Option(min=1, help="How many of the range to capture.")] = 1,
    domain: Domain = "",
    output: Output = Path("tmp/profile-output/nsys"),
    dry_run: Dry = False,
) -> None:
    """A timeline of one phase: `forwardbook profile nsys llama-3.2-1b --range decode -- --device cuda`"""
    with options.refusing():
        from forwardbook.profiling.tools.commands import nsys_profile

        expression = _expression("nsys", chosen, domain, model, more)
        command = nsys_profile(_workload(model, more), str(output / "timeline"), expression, instances)
        _run(command, output, dry_run)


def ncu(
    model: Model,
    more: More = None,
    chosen: Chosen = None,
    chip: Annotated[
        str | None,
        typer.Option(help="gh100, ad102, ...: which counters exist; that of the GPU here, if any."),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(help="More counters, with commas; each must exist on the chip.")
    ] = None,
    kernel: Annotated[str | None, typer.Option(help="One mangled name, or regex:...")] = None,
    skip: Annotated[int, typer.Option(min=0, help="Launches to pass over.")] = 0,
    count: Annotated[int, typer.Option(min=0, help="Launches to profile; 0 is all.")] = 0,
    domain: Domain = "",
    output: Output = Path("tmp/profile-output/ncu"),
    dry_run: Dry = False,
) -> None:
    """Counters of kernels: `forwardbook profile ncu llama-3.2-1b --chip gh100 -- --device cuda`"""
    with options.refusing():
        from forwardbook.pipeline.configured.tools import chip_here
        from forwardbook.profiling.tools.commands import ncu_profile

        expression = _expression("ncu", chosen, domain, model, more)
        workload = _workload(model, more)
        asked = [one.strip() for one in (metrics or "").split(",") if one.strip()]
        place = str(output / "kernels")
        command = ncu_profile(workload, place, expression, chip or chip_here(), kernel, skip, count, asked)
        _run(command, output, dry_run)


def _expression(tool: str, chosen: str | None, domain: str, model: str, more: list[str] | None) -> str:
    """The expression, where the ranges that a run makes fit it; modules are ranges with --nvtx-modules."""
    from forwardbook.pipeline.configured.tools import expression
    from forwardbook.pipeline.model.find import find_model
    from forwardbook.workspace.model_files import ModelFiles

    modules = find_model(model, ModelFiles(Path.cwd())) if "--nvtx-modules" in (more or []) else None
    return expression(tool, chosen, domain, modules)


def _workload(model: str, more: list[str] | None) -> list[str]:
    """The same run without any profiler of its own."""
    own = ["profile", "run", model, "--passes", "timing", "--warmup", "1", "--repeats", "1"]
    return [sys.executable, "-m", "forwardbook", *own, *(more or [])]


def _run(command: ToolCommand, output: Path, dry_run: bool) -> None:
    import shlex

    from forwardbook.profiling.tools.execution import run_tool, write_plan
    from forwardbook.profiling.tools.installed import ToolMissing

    put(shlex.join(command.arguments))
    if dry_run:
        put(f"wrote {write_plan(command, output)}")
        return
    try:
        put(f"wrote {run_tool(command, output)}")
    except ToolMissing as error:
        say(f"error: {error}")
        raise typer.Exit(INCOMPLETE) from None
