"""A command of a tool in; its report, or a named error with the likely cause, out."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from forwardbook.errors import ForwardbookError
from forwardbook.profiling.readers.anything import read_report
from forwardbook.profiling.readers.ncu_csv import ADVICE, NcuReport
from forwardbook.profiling.readers.nsys_sqlite import NsysExport
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable
from forwardbook.profiling.tools.commands import ToolCommand, ncu_page
from forwardbook.profiling.tools.installed import (
    HELP,
    Installed,
    ToolMissing,
    checked_metrics,
    fitted,
    installed,
    known_metrics,
)
from forwardbook.profiling.tools.privacy import without_environment

__all__ = ["ToolFailed", "ToolMissing", "run_tool", "write_plan"]

SECONDS: Final = 3600
Told = Callable[[str], None]
Signature = tuple[int, int, int] | None


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


def run_tool(
    command: ToolCommand, folder: Path, told: Told = lambda text: print(text, file=sys.stderr)
) -> Path:
    """The report that the tool made, fresh, and with something in it.

    Before, the command is made to fit the version that is installed, and its counters are held against those
    that the tool has for the chip; what had to be left out is told. The plan stays in the folder.

    Raises:
        ToolMissing: where the tool is not on the path.
        ToolUnfit: where it lacks an option, or a counter that was asked for.
        ToolFailed: where it failed, or left no report, an old one, or an empty one.
    """
    plan = write_plan(command, folder)
    if command.tool in HELP:
        try:
            found = installed(command.tool, command.environment)
        except ToolMissing as error:
            raise ToolMissing(f"{error}\n  what would have run: {plan}") from None
        command, notes = _fit(command, found)
        for note in notes:
            told(f"note: {note}")
        write_plan(command, folder)
    reports = [Path(command.report), *map(Path, command.more)]
    before = [_signature(path) for path in reports]
    _ran(command, folder, reports)
    for path, old in zip(reports, before, strict=True):
        _refuse_old(command, path, old)
    if command.tool == "nsys":
        for path in reports:
            export = path.with_name(f"{path.name.removesuffix('.nsys-rep')}.sqlite")
            _refuse_no_events(export, told)
            if count := without_environment(export):
                told(
                    f"note: {path.name} holds {count} environment variables, some of other processes: keep "
                    f"it to yourself; their values were taken out of {export.name}"
                )
    if command.tool == "ncu":
        told(f"wrote {_counters(command, folder)}")
    return reports[0]


def _fit(command: ToolCommand, found: Installed) -> tuple[ToolCommand, tuple[str, ...]]:
    """The command for the installed version, with counters that it has for the chip."""
    command, notes = fitted(command, found)
    if found.tool != "ncu" or command.chip is None:
        return command, notes
    known = known_metrics(command.chip, command.environment)
    if not known:
        return command, (*notes, f"{found.name} lists no counters for {command.chip}: names are not checked")
    command, more = checked_metrics(command, known, found.name)
    return command, (*notes, *more)


def _ran(command: ToolCommand, folder: Path, reports: list[Path]) -> None:
    try:
        done = subprocess.run(
            command.arguments,
            env=dict(command.environment),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise ToolMissing(f"running {command.tool}: it is not installed here: {error}") from error
    except OSError as error:
        raise ToolFailed(f"running {command.tool}: {type(error).__name__}: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise ToolFailed(
            f"running {command.tool}: it was not done after {SECONDS} s and was ended"
        ) from error
    told = done.stdout + done.stderr
    (folder / f"{command.tool}.log").write_text(told)
    missing = [path for path in reports if not path.is_file()]
    if done.returncode or missing:
        raise ToolFailed(_cause(command, done.returncode, told, missing, len(reports)))


def _signature(path: Path) -> Signature:
    """What changes when a file is written again."""
    if not path.is_file():
        return None
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def _refuse_old(command: ToolCommand, path: Path, before: Signature) -> None:
    if _signature(path) == before:
        raise ToolFailed(f"running {command.tool}: {path.name} is older than this run: it was not written")
    if not path.stat().st_size:
        raise ToolFailed(f"running {command.tool}: {path.name} is empty")


def _refuse_no_events(export: Path, told: Told) -> None:
    """A timeline whose export holds neither kernels nor ranges shows nothing."""
    if not export.is_file():
        raise ToolFailed(f"running nsys: it wrote a report, but not its export {export.name}")
    try:
        found = read_report(export)
    except (NothingCaptured, ReportUnreadable) as error:
        raise ToolFailed(f"running nsys: {export.name} holds nothing: {error}") from error
    assert isinstance(found, NsysExport)
    if not found.kernels:
        count = sum(one.instances or 0 for one in found.ranges)
        told(f"note: {export.name} holds {count} ranges and no kernel: did anything run on a GPU?")


def _counters(command: ToolCommand, folder: Path) -> Path:
    """The counters of a report as CSV beside it, at least one launch."""
    page = ncu_page(command.report)
    done = subprocess.run(
        page.arguments,
        env=dict(page.environment),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    path = Path(command.report).with_suffix(".raw.csv")
    path.write_text(done.stdout)
    try:
        found = read_report(path)
    except (NothingCaptured, ReportUnreadable) as error:
        raise ToolFailed(f"running ncu: its report has no launch: {error}") from error
    assert isinstance(found, NcuReport)
    return path


def _cause(command: ToolCommand, code: int, told: str, missing: list[Path], wanted: int) -> str:
    """What went wrong, as far as what the tool said lets one know."""
    likely = next((advice for mark, advice in ADVICE.items() if mark in told), "")
    left = sorted(p.name for p in Path(command.report).parent.glob("*.qdstrm"))
    if not likely and left:
        likely = f"{left[0]} was left behind: the import into a report failed"
    if not likely and not code and len(missing) < wanted:
        likely = f"the range began {wanted - len(missing)} times, not {wanted}: ask for fewer instances"
    if not likely and not code:
        likely = "no range that it waited for began, or no kernel ran in it"
    last = [line for line in told.splitlines() if line.strip()][-3:]
    names = ", ".join(path.name for path in missing)
    lines = [f"running {command.tool}: exit code {code}" + (f", no report {names}" if names else "")]
    return "\n".join(
        [*lines, *(f"  it said: {line}" for line in last), f"  likely: {likely or 'see the log'}"]
    )
