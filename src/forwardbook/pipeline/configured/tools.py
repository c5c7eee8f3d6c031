"""A configuration with stage 2 switched on in; the command of the tool, checked, and its report out."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

from forwardbook.configuration.schema import Configuration
from forwardbook.workspace.run_folder import RunFolder

if TYPE_CHECKING:
    from forwardbook.models.architecture import Architecture
    from forwardbook.profiling.tools.commands import ToolCommand

Tool = Literal["nsys", "ncu"]
TOOLS: Final[tuple[Tool, ...]] = ("nsys", "ncu")


def run_stage_two(
    tool: Tool, folder: RunFolder, wanted: Configuration, chosen: str, told: Callable[[str], None]
) -> list[str]:
    """The report of one tool over the range `chosen`; what to say where the tool is not installed.

    Raises:
        ForwardbookError: for a tool that fails.
    """
    from forwardbook.profiling.tools.execution import run_tool, write_plan
    from forwardbook.profiling.tools.installed import ToolMissing

    folder.step(tool)
    told(tool)
    place = folder.path / tool
    command = command_for(tool, folder, wanted, chosen)
    told(shlex.join(command.arguments))
    stage = wanted.pipeline.nsys if tool == "nsys" else wanted.pipeline.ncu
    if stage.dry_run:
        told(f"wrote {write_plan(command, place)}")
        return []
    try:
        told(f"wrote {run_tool(command, place, told)}")
    except ToolMissing as error:
        return [str(error)]
    return []


def command_for(tool: Tool, folder: RunFolder, wanted: Configuration, chosen: str) -> ToolCommand:
    """The command over the same run, whose own profilers and other stages are off."""
    from forwardbook.profiling.tools.commands import ncu_profile, nsys_profile

    place = folder.path / tool
    conf = folder.write(f"{tool}/workload/config.yaml", workload(tool, folder, wanted)).parent
    argv = [sys.executable, "-m", "forwardbook", "profile", "run", "--config-dir", str(conf)]
    if tool == "nsys":
        stage = wanted.pipeline.nsys
        return nsys_profile(argv, str(place / "timeline"), chosen, stage.instances)
    own = wanted.pipeline.ncu
    chip = wanted.hardware.chip or chip_here()
    kept = own.kernel, own.skip, own.count, own.metrics
    return ncu_profile(argv, str(place / "kernels"), chosen, chip, *kept)


def workload(tool: Tool, folder: RunFolder, wanted: Configuration) -> str:
    """The configuration of what the tool watches: times alone, in a run folder of its own."""
    import yaml  # type: ignore[import-untyped]

    values = wanted.model_dump(mode="json")
    stages = values["pipeline"]
    for name in ("static_analysis", "nsys", "ncu", "direct_inference"):
        stages[name]["enable"] = False
    stages["torch_profiler"].update(enable=True, passes=["timing"], repeats=1, warmup=1)
    values["output"] = {"root": str(folder.path / tool / "workload" / "runs"), "run_id": ""}
    return str(yaml.safe_dump(values, sort_keys=False))


def expression(tool: str, chosen: str | None, domain: str, architecture: Architecture | None = None) -> str:
    """The expression, or that of decode; held against the ranges of a run, with a model those of modules.

    Raises:
        ForwardbookError: where it chooses none of them.
    """
    from forwardbook.pipeline.profile.ranges import module_stacks, phase_stacks
    from forwardbook.profiling.tools.range_expressions import Range, refuse_nothing, written

    stacks = phase_stacks(domain)
    if architecture is not None:
        stacks += module_stacks(architecture, domain)
    text = chosen or written(tool, Range("decode", domain))
    refuse_nothing(tool, text, stacks)
    return text


def chip_here() -> str | None:
    """The chip of the first GPU that torch sees; None where there is none, or no table of its counters."""
    import torch

    from forwardbook.profiling.tools.commands import CHIPS

    if not torch.cuda.is_available():
        return None
    return CHIPS.get(torch.cuda.get_device_capability())
