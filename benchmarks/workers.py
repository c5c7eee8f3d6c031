"""The name of a side of a comparison in; a process of its own that answers what it is asked out.

Some counters leave functions of torch patched behind them, after which others count differently.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Final

from benchmarks.measuring import ROOT

if TYPE_CHECKING:
    from benchmarks.counters import Report

Answer = tuple[float, "Report | str"]  # seconds, and the report or the reason why there is none
LIMIT: Final = 300  # seconds that one answer may take


class Worker:
    """A process that runs `python -m MODULE --serve NAME HANDLE` and counts when asked."""

    def __init__(self, module: str, name: str) -> None:
        self.name, self._module = name, module
        self._start()

    def _start(self) -> None:
        self._here, there = Pipe()
        # not multiprocessing: torchlens refuses to work in its children
        command = [sys.executable, "-W", "ignore", "-m", self._module, "--serve", self.name]
        self._process = subprocess.Popen(
            [*command, str(there.fileno())], cwd=ROOT, pass_fds=[there.fileno()], stdout=subprocess.DEVNULL
        )
        there.close()

    def ask(self, *words: object) -> Answer:
        """What the side's method of that name answers; a process that ended or took too long is made anew."""
        try:
            self._here.send(words)
            if not self._here.poll(LIMIT):
                self._process.kill()
                self._anew()
                return float(LIMIT), f"over {LIMIT} s"
            answer: Answer = self._here.recv()
        except (EOFError, OSError):
            return 0.0, f"its process ended with exit code {self._anew()}"
        return answer

    def _anew(self) -> int:
        """Another process; the exit code of the one before."""
        self.close()
        code = self._process.returncode
        self._start()
        return code

    def close(self) -> None:
        """Lets the process end."""
        self._here.close()
        self._process.wait()


def in_turns(
    able: Sequence[Worker], rounds: int, reports: dict[str, Report | str], seconds: dict[str, list[float]]
) -> None:
    """Adds to the seconds of each worker a count a round, a round beginning with another one each time.

    What is reported otherwise than before takes the place of the report.
    """
    for turn in range(rounds):
        first = turn % len(able)
        for worker in (*able[first:], *able[:first]):
            took, again = worker.ask("count")
            if again != reports[worker.name]:
                reports[worker.name] = f"reports {again} after {reports[worker.name]} for the same model"
            seconds[worker.name].append(took)


def serve(side: Callable[[], object], handle: int) -> None:
    """Answers from a side's methods until the pipe closes."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("DS_ACCELERATOR", "cpu")
    there, one = Connection(handle), side()
    while True:
        try:
            word, *rest = there.recv()
        except EOFError:
            return
        try:
            there.send(getattr(one, word)(*rest))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool may fail in any way; the table says how
            first = str(error).strip().splitlines()
            there.send((0.0, f"{type(error).__name__}: {first[0] if first else ''}"))
