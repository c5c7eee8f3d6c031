"""Functions to time in, their seconds out: in turns, so that a busy machine slows all of them alike."""

from __future__ import annotations

import datetime
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Timing:
    """Seconds of one subject over all rounds."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def record(self) -> dict[str, float | list[float]]:
        """The numbers as JSON keeps them."""
        return {
            "median": self.median,
            "least": min(self.seconds),
            "greatest": max(self.seconds),
            "all": list(self.seconds),
        }

    def text(self) -> str:
        """Median, with least and greatest in brackets, in one readable unit."""
        return spread(self.median, min(self.seconds), max(self.seconds))


def spread(median: float, least: float, greatest: float) -> str:
    """`1.2 ms (1.1-1.9)`."""
    unit, factor = next(
        (u for u in (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9)) if median * u[1] >= 1), ("µs", 1e6)
    )
    middle, low, high = (ratio(value * factor) for value in (median, least, greatest))
    return f"{middle} {unit} ({low}-{high})"


def ratio(value: float) -> str:
    """Three digits or all of them, thousands apart, never in powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def timed(subject: Callable[[], object]) -> float:
    """Seconds of one call."""
    begin = time.perf_counter()
    subject()
    return time.perf_counter() - begin


def interleaved(
    subjects: Mapping[str, Callable[[], object]], rounds: int, warm: int = 0
) -> dict[str, Timing]:
    """Every subject once per round; each round begins with another one; the first `warm` are not kept."""
    names = list(subjects)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(warm + rounds):
        first = turn % len(names)
        for name in (*names[first:], *names[:first]):
            took = timed(subjects[name])
            if turn >= warm:
                seconds[name].append(took)
    return {name: Timing(tuple(values)) for name, values in seconds.items()}


def many(subject: Callable[[], object], calls: int) -> Callable[[], None]:
    """A subject too short for the clock, called `calls` times."""

    def repeated() -> None:
        for _ in range(calls):
            subject()

    return repeated


def about(module: str, packages: Sequence[str] = ()) -> dict[str, object]:
    """Date, versions, machine and the command: what a reader needs to judge the numbers or repeat them."""
    arguments = " ".join(sys.argv[1:])
    load, threads = os.getloadavg(), os.environ.get("OMP_NUM_THREADS", "unset")
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": f"OMP_NUM_THREADS={threads} python -m {module} {arguments}".strip(),
        "versions": {
            "python": platform.python_version(),
            **{name: _version(name) for name in ("torch", "transformers", "numpy", *packages)},
            "forwardbook": f"{_version('forwardbook')} at {commit()}",
        },
        "machine": {
            "cores": os.cpu_count(),
            "processor": _processor(),
            "load_when_started": [round(value, 2) for value in load],
        },
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "from source" if package == "forwardbook" else "absent"


def commit() -> str:
    """The short name of the commit that this tree is at."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "no commit"


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
