"""Command lines in; the CPU time, memory and exit code of each process, with its children, out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

MEASURE = """
import json, resource, subprocess, sys, time
begin = time.perf_counter()
with open(sys.argv[2], "wb") as said:
    code = subprocess.run(sys.argv[3:], stdout=said, stderr=said).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([used.ru_utime + used.ru_stime, used.ru_maxrss, code, time.perf_counter() - begin], file)
"""


@dataclass(frozen=True)
class Used:
    """Seconds of CPU and of the clock, megabytes at the peak, exit code, and what was said."""

    cpu: float
    megabytes: float
    code: int
    wall: float
    said: str

    def without(self, text: str) -> Used:
        """The same, with a text (the name of a temporary folder) left out of what was said."""
        return replace(self, said=self.said.replace(text, ""))

    @property
    def last_line(self) -> str:
        """The last thing that it said."""
        lines = self.said.strip().splitlines()
        return lines[-1] if lines else ""


def measured(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Used:
    """Run a command in a process of its own and wait for it."""
    with tempfile.TemporaryDirectory() as folder:
        numbers, words = Path(folder) / "used.json", Path(folder) / "said.txt"
        subprocess.run(
            [sys.executable, "-c", MEASURE, str(numbers), str(words), *command],
            env={**os.environ, **(environment or {})},
            check=True,
        )
        cpu, kilobytes, code, wall = cast("list[float]", json.loads(numbers.read_text()))
        said = words.read_text(encoding="utf-8", errors="replace")
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return Used(cpu, kilobytes / scale, int(code), wall, said)
