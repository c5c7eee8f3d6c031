"""Kills a build of the catalogue at random moments and resumes it: the same files must come out.

    python -m benchmarks.kills --library transformers --only vit --kills 20

Without --library a small package of its own is built. Every second kill ends the whole process group, the
others the build alone, whose children must end with it. One of five comes when all units are done, while
the database is written. Exit code 1 where a byte of a file differs or a process is left.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.measuring import ROOT, about
from benchmarks.publishing import publish, table

PACKAGE = "parts_to_kill"
MODULE = """\
import torch
from torch import nn


class {name}(nn.Module):
    def __init__(self, dim: int, hidden: int = {width}):
        super().__init__()
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(torch.{function}(self.up(x)))


class {name}Norm(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return x + self.norm(x)
"""
UNITS = (("Ant", 32, "relu"), ("Bee", 32, "relu"), ("Cat", 48, "tanh"))
A_ROUND = 5  # kills in one workspace, one after the other
LAST = 0.6  # seconds in which the database is written, once all units are done
HERE = {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "FORWARDBOOK_PASS_ENV": "KILLS"}
ALONE = (  # a workspace in which nothing was done finds nothing done in the shipped database either
    "import forwardbook.workspace.folder as folder; folder.shipped_path = lambda: None; "
    "from forwardbook.cli import main; main()"
)
EMPTY = '{"schema_version": 2, "entries": {}}'  # the database of a workspace in which nothing was done


@dataclass(frozen=True)
class Kill:
    """One kill: after how many seconds, of what, how many units were kept by then, whether all were done."""

    seconds: float
    of: str
    kept: int
    in_merge: bool


def main() -> None:
    """Build once whole, then with kills; publish what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--units", type=int, default=len(UNITS), help="of the package that is made here")
    parser.add_argument("--no-record", action="store_true")
    given = parser.parse_args()
    command = [sys.executable, "-c", ALONE, "catalogue", "build"]
    command += ["--library", given.library or PACKAGE, *(["--only", given.only] if given.only else [])]
    command += ["--jobs", str(given.jobs)]
    rng = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        trial = Trial(Path(name), command, () if given.library else UNITS[: given.units])
        whole, seconds = trial.whole(trial.fresh("whole"))
        _, again = trial.whole(Path(name) / "whole")
        catalogue = json.loads((Path(name) / "whole" / "catalogue.json").read_text(encoding="utf-8"))
        units = len(catalogue["libraries"][given.library or PACKAGE]["units"])
        kills: list[Kill] = []
        equal: list[bool] = []
        while len(kills) < given.kills:
            root = trial.fresh(f"round{len(equal)}")
            count = min(A_ROUND, given.kills - len(kills))
            kills += trial.round(root, count, (seconds, again), units, rng)
            found = trial.whole(root)[0]
            equal.append(found == whole)
            different = sorted(name for name, _ in found.items() ^ whole.items())
            if different:
                print(f"{root.name}: different: {', '.join(dict.fromkeys(different))}", file=sys.stderr)
    record = {
        "about": about("benchmarks.kills", ("torch", "transformers")),
        "command": " ".join(("forwardbook", *command[3:])),
        "seed": given.seed,
        "seconds_uninterrupted": round(seconds, 1),
        "seconds_nothing_changed": round(again, 1),
        "units": units,
        "files": whole,
        "kills": [asdict(one) for one in kills],
        "rounds_equal": equal,
    }
    print(json.dumps({key: record[key] for key in ("seconds_uninterrupted", "kills", "rounds_equal")}))
    if not given.no_record:
        publish(f"kills_{given.library}" if given.library else "kills", record, [_table(kills, equal)])
    if not all(equal):
        raise SystemExit("a build that was killed and resumed ended in other files")


@dataclass(frozen=True)
class Trial:
    """Where workspaces are made, and the command that is run in them."""

    folder: Path
    command: Sequence[str]
    units: Sequence[tuple[str, int, str]]
    """Of the package that is made in each workspace."""

    def fresh(self, name: str) -> Path:
        """A workspace without entries."""
        root = self.folder / name
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        (root / "module_db.json").write_text(EMPTY, encoding="utf-8")
        for unit, width, function in self.units:
            folder = root / PACKAGE / unit.lower()
            folder.mkdir(parents=True)
            text = MODULE.format(name=unit, width=width, function=function)
            (folder / "layers.py").write_text(text, encoding="utf-8")
            os.utime(folder / "layers.py", (0, 0))  # the state of a package counts when its files changed
        return root

    def whole(self, root: Path) -> tuple[dict[str, str], float]:
        """Build to the end; the hash of every file that is left, and the seconds it took."""
        begin = time.monotonic()
        subprocess.run(self.command, cwd=root, env=os.environ | HERE, check=True, capture_output=True)
        files = (path for path in sorted(root.rglob("*")) if path.is_file() and path.suffix != ".lock")
        found = {
            path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
        }
        return found, time.monotonic() - begin

    def round(
        self, root: Path, count: int, seconds: tuple[float, float], units: int, rng: random.Random
    ) -> list[Kill]:
        """So many kills of one build, one after the other; after the last it may be resumed to its end."""
        kills: list[Kill] = []
        while len(kills) < count:
            at_the_end = len(kills) == count - 1
            token = f"{rng.getrandbits(64):016x}"
            full = _kept(root) >= units
            process = subprocess.Popen(
                self.command,
                cwd=root,
                env=os.environ | HERE | {"KILLS": token},
                start_new_session=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            begin = time.monotonic()
            while at_the_end and process.poll() is None and _kept(root) < units:
                time.sleep(0.005)
            until = time.monotonic() + rng.uniform(0.0, LAST if at_the_end and not full else seconds[full])
            while process.poll() is None and time.monotonic() < until:
                time.sleep(0.002)
            if process.poll() is not None:
                self.fresh(root.name)  # it was done before that moment: once more from the start
                continue
            of = "group" if len(kills) % 2 else "build"
            kept = _kept(root)
            _kill(process, of, token)
            kills.append(Kill(round(time.monotonic() - begin, 2), of, kept, at_the_end))
        return kills


def _kept(root: Path) -> int:
    """Units whose results are on the disk."""
    return len(list((root / ".forwardbook" / "catalogue").glob("*/[!.]*.json")))


def _kill(process: subprocess.Popen[bytes], of: str, token: str) -> None:
    """End a build, or its process group; nothing that it started is left.

    Raises:
        SystemExit: where something is.
    """
    if of == "group":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    for _ in range(100):
        left = _alive(token)
        if not left:
            return
        time.sleep(0.1)
    raise SystemExit(f"ten seconds after the build was killed, processes of it live: {left}")


def _alive(token: str) -> list[int]:
    mark, found = f"KILLS={token}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def _table(kills: Sequence[Kill], equal: Sequence[bool]) -> str:
    rows = [
        (str(number), one.of, f"{one.seconds:.1f}", str(one.kept), "yes" if one.in_merge else "")
        for number, one in enumerate(kills, 1)
    ]
    shown = table(
        ("kill", "of", "after seconds", "units kept by then", "while the database is written"), rows
    )
    same = (
        f"{sum(equal)} of {len(equal)} workspaces, each killed up to {A_ROUND} times, ended in the same files"
    )
    return f"{shown}\n\n{same}."


if __name__ == "__main__":
    main()
