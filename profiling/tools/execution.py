"""A command of a tool in; its report, or a named error with the likely cause, out."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import time
from pathlib import Path

from forwardbook.errors import ForwardbookError
from forwardbook.profiling.readers.ncu_csv import ADVICE
from forwardbook.profiling.tools.commands import ToolCommand

SECONDS = 3600


class ToolMissing(ForwardbookError):
    """A tool that is not installed; the plan was written."""


class ToolFailed(ForwardbookError):
    """A tool that ended badly, or well and without a report."""


def write_plan(command: ToolCommand, folder: Path) -> Path:
    """The exact arguments in a file, for people and for programs."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{command.tool}.argv.json"
    names = sorted(name for name in command.environment)
    path.write_text(json.dumps({"argv": command.arguments, "environment": names}, indent=1) + "\n")
    (folder / f"{command.tool}.cmd.txt").write_text(shlex.join(command.arguments) + "\n")
    return path


def run_tool(command: ToolCommand, folder: Path) -> Path:
    """The report that the tool made, fresh and not empty.

    Raises:
        ToolMissing: where the tool is not on the path; the plan stays in the folder.
        ToolFailed: where it failed, or left no report, an old one, or an empty one.
    """
    plan = write_plan(command, folder)
    if shutil.which(command.tool) is None:
        raise ToolMissing(f"running {command.tool}: it is not installed here\n  what would have run: {plan}")
    start = time.time()
    done = subprocess.run(
        command.arguments,
        env=dict(command.environment),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    (folder / f"{command.tool}.log").write_text(done.stdout + done.stderr)
    told = done.stdout + done.stderr
    report = Path(command.report)
    if done.returncode or not report.is_file():
        raise ToolFailed(_cause(command, done.returncode, told))
    if report.stat().st_mtime < start - 1:
        raise ToolFailed(f"running {command.tool}: {report.name} is older than this run: it was not written")
    if not report.stat().st_size:
        raise ToolFailed(f"running {command.tool}: {report.name} is empty")
    return report


def _cause(command: ToolCommand, code: int, told: str) -> str:
    """What went wrong, as far as what the tool said lets one know."""
    likely = next((advice for mark, advice in ADVICE.items() if mark in told), "")
    left = sorted(p.name for p in Path(command.report).parent.glob("*.qdstrm"))
    if not likely and left:
        likely = f"{left[0]} was left behind: the import into a report failed"
    if not likely and not code:
        likely = "no range that it waited for began, or no kernel ran in it"
    last = [line for line in told.splitlines() if line.strip()][-3:]
    lines = [f"running {command.tool}: exit code {code}, no report {Path(command.report).name}"]
    return "\n".join(
        [*lines, *(f"  it said: {line}" for line in last), f"  likely: {likely or 'see the log'}"]
    )
