"""The name of a tool in; what is installed of it, and a command made to fit that, out.

Options came and went: nsys 2022.4 and 2023.4 have no --discard-environment, ncu 2022.3 has no
--graph-profiling. So what an installed tool can do is read off its own help, and which counters a chip has
off its own list.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from forwardbook.errors import ForwardbookError
from forwardbook.profiling.tools.commands import ToolCommand

SECONDS: Final = 120
HELP: Final[Mapping[str, tuple[str, ...]]] = {"nsys": ("profile", "--help"), "ncu": ("--help",)}
# Versions whose behaviour was seen; others get a note.
TRIED: Final[Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "nsys": ((2022, 4), (2023, 4)),
    "ncu": ((2022, 3), (2025, 3)),
}
# Options that improve a report and may be missing, and how many arguments each takes beside its name.
OPTIONAL: Final[Mapping[str, int]] = {
    "--cuda-graph-trace": 0,
    "--discard-environment": 0,
    "--graph-profiling": 1,
}
WANTED: Final[Mapping[str, tuple[str, ...]]] = {"nsys": ("--discard-environment=true",), "ncu": ()}
_VERSION: Final = re.compile(r"version\s+v?(\d+(?:\.\d+)+)", re.IGNORECASE)
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


class ToolMissing(ForwardbookError):
    """A tool that is not installed; the plan was written."""


class ToolUnfit(ForwardbookError):
    """An installed tool that lacks what a command needs, or does not say what it is."""


@dataclass(frozen=True)
class Installed:
    """A tool on the path: its version and the options that its help names."""

    tool: str
    version: tuple[int, ...]
    options: frozenset[str]

    @property
    def name(self) -> str:
        """The tool with its version."""
        return f"{self.tool} {'.'.join(map(str, self.version))}"


def installed(tool: str, environment: Mapping[str, str]) -> Installed:
    """What is installed.

    Raises:
        ToolMissing: where the tool is not on the path.
        ToolUnfit: where it does not say its version.
    """
    if shutil.which(tool) is None:
        raise ToolMissing(f"running {tool}: it is not installed here")
    said = _said([tool, "--version"], environment)
    found = _VERSION.search(said)
    if found is None:
        told = " ".join(said.split())[:200] or "nothing"
        raise ToolUnfit(f"asking {tool} for its version: it said {told}\n  is it Nvidia's {tool}?")
    options = frozenset(_OPTION.findall(_said([tool, *HELP[tool]], environment)))
    return Installed(tool, tuple(map(int, found[1].split("."))), options)


def _said(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            arguments, env=dict(environment), capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolUnfit(f"running {' '.join(arguments)}: {type(error).__name__}: {error}") from error
    return done.stdout + done.stderr


def fitted(command: ToolCommand, found: Installed) -> tuple[ToolCommand, tuple[str, ...]]:
    """The command as the installed tool can run it, and notes on what had to be left out.

    Raises:
        ToolUnfit: where the tool has not got an option that the command needs.
    """
    place = command.arguments.index("-o")
    head, tail = list(command.arguments[:place]), command.arguments[place:]
    head += [one for one in WANTED[found.tool] if one.partition("=")[0] in found.options and one not in head]
    notes, kept, lacking = list(_tried(found)), [], []
    index = 0
    while index < len(head):
        name = head[index].partition("=")[0]
        if not name.startswith("--") or name in found.options:
            kept.append(head[index])
        elif name in OPTIONAL:
            notes.append(f"{found.name} has no {name}: left out")
            index += OPTIONAL[name]
        else:
            lacking.append(name)
        index += 1
    if lacking:
        raise ToolUnfit(
            f"fitting the command to {found.name}: it has no {', '.join(lacking)}\n"
            f"  install {found.tool} {'.'.join(map(str, TRIED[found.tool][0]))} or newer"
        )
    return replace(command, arguments=(*kept, *tail)), tuple(notes)


def _tried(found: Installed) -> list[str]:
    oldest, newest = TRIED[found.tool]
    if oldest <= found.version[: len(oldest)] <= newest:
        return []
    seen = f"{'.'.join(map(str, oldest))} to {'.'.join(map(str, newest))}"
    return [f"{found.name} was never tried; what is relied on was seen with {seen}"]


def known_metrics(chip: str, environment: Mapping[str, str]) -> frozenset[str] | None:
    """The counters that the installed ncu has for a chip, without `.sum` and the like; None if unknown.

    No GPU is needed for this.
    """
    said = _said(["ncu", "--query-metrics", "--chips", chip], environment)
    if "==ERROR==" in said:
        return None
    first = (line.split(maxsplit=1)[0] for line in said.splitlines() if line.strip())
    return frozenset(name for name in first if re.fullmatch(r"[A-Za-z][\w.]*__\w+", name))


def checked_metrics(
    command: ToolCommand, known: frozenset[str], ncu: str
) -> tuple[ToolCommand, tuple[str, ...]]:
    """The command without counters of ours that this chip lacks, and a note for each.

    Raises:
        ToolUnfit: for counters that the user asked for by name and that the chip lacks.
    """
    place = command.arguments.index("--metrics") + 1
    names = command.arguments[place].split(",")
    missing = [name for name in names if base(name) not in known]
    wrong = [name for name in missing if name in command.asked]
    if wrong:
        lines = [f"choosing counters: {ncu} has no such counter for {command.chip}: {', '.join(wrong)}"]
        for name in wrong:
            near = get_close_matches(base(name), known, 3)
            lines += [f"  near {name}: {', '.join(near)}"] if near else []
        raise ToolUnfit("\n".join(lines))
    kept = ",".join(name for name in names if name not in missing)
    arguments = (*command.arguments[:place], kept, *command.arguments[place + 1 :])
    notes = tuple(f"{ncu} has no {name} for {command.chip}: left out, unknown afterwards" for name in missing)
    return replace(command, arguments=arguments), notes


def base(metric: str) -> str:
    """The name of a counter as the tool lists it, without how it is summed up."""
    return metric.partition(".")[0] if "TriageCompute" not in metric else metric
