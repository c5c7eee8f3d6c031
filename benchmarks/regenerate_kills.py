"""Kills a real regeneration with SIGKILL at random moments and resumes it: the same files must come out.

    python -m benchmarks.regenerate_kills --kills 50 --seed 7

A package of six small classes is analysed; then, again and again, what all of them are built from is changed
and `forwardbook regenerate --jobs 2` is typed, killed, and typed again until it is done. After every kill all
entries must be readable and proved, and no process may be left; at the end of every regeneration database,
calculators and report must be, byte for byte, those of one that nobody killed. Exit code 1 where anything is
not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.measuring import about
from benchmarks.publishing import publish, table

from forwardbook.workspace import Workspace

NAMES = ("Scale", "Mix", "Gate", "Norm", "Blend", "Stack")
SOURCE = """
import torch
from torch import nn

FACTOR = {factor}


class Scale(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * self.weight + FACTOR


class Mix(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.inner = nn.Linear(width, FACTOR * width)

    def forward(self, x):
        return torch.relu(self.inner(x))


class Gate(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.up = nn.Linear(width, FACTOR * width)
        self.gate = nn.Linear(width, FACTOR * width)

    def forward(self, x):
        return self.up(x) * torch.sigmoid(self.gate(x))


class Norm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(FACTOR * torch.ones(width))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Blend(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(FACTOR * width, width))

    def forward(self, x):
        return torch.softmax(x @ self.weight.t(), -1)


class Stack(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(FACTOR))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
FACTORS = (2, 3)
LEFT_SECONDS = 20.0
"""How long a process that a killed run started may take to notice that nobody waits for it."""


@dataclass
class Tally:
    """What happened: kills, finished regenerations, classes derived, and whatever was not as it should be."""

    seed: int
    kills: int = 0
    at_seconds: list[float] = field(default_factory=list)
    regenerations: int = 0
    derived: int = 0
    derived_again: int = 0
    whole_run_s: float = 0.0
    wrong: list[str] = field(default_factory=list)


def main() -> int:
    """Kill, resume, compare and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--dry", action="store_true", help="print, publish nothing")
    given = parser.parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tally = killed(Path(folder), given.kills, seed)
    print("\n".join(tally.wrong) or _shown(tally))
    if not given.dry:
        record = {"about": about("benchmarks.regenerate_kills", ()), **asdict(tally)}
        publish("regenerate_kills", record, [_shown(tally)])
    return 1 if tally.wrong else 0


def killed(folder: Path, kills: int, seed: int) -> Tally:
    """Regenerate the package until so many regenerations were killed; `folder` is empty."""
    rng, tally = random.Random(seed), Tally(seed)
    work = folder / "work"
    change(work, FACTORS[0])
    shape = ["--init", "width=8", "--input", "x=batch_size,seq_len,width", "--jobs", "2"]
    typed(work, ["analyze-module", *(f"tiny.layers.{name}" for name in NAMES), *shape], "")
    wanted = {}
    for number, factor in enumerate(FACTORS[::-1]):  # from the first factor to the second, and back
        change(work, factor)
        begin = time.monotonic()
        typed(work, ["regenerate", "--jobs", "2"], "")
        tally.whole_run_s = max(tally.whole_run_s, time.monotonic() - begin)
        if number == 0:
            first = state(work)
        wanted[factor] = state(work)
    change(work, FACTORS[1])
    typed(work, ["regenerate", "--jobs", "2"], "")
    if state(work) != first:
        tally.wrong.append("a regeneration that nobody killed came out otherwise the second time")
    turn = 0
    while tally.kills < kills:
        factor = FACTORS[turn % 2]
        turn += 1
        change(work, factor)
        derived = _until_done(work, kills, rng, tally)
        tally.regenerations += 1
        tally.derived += derived
        tally.derived_again += derived - len(NAMES)
        found = state(work)
        names = sorted(
            name for name in {*found, *wanted[factor]} if found.get(name) != wanted[factor].get(name)
        )
        if names:
            tally.wrong.append(f"regeneration {turn}: not as without a kill: {', '.join(names)}")
    return tally


def _until_done(work: Path, kills: int, rng: random.Random, tally: Tally) -> int:
    """Kill and resume one regeneration until it is done; how many classes were derived on the way."""
    derived = 0
    while True:
        wait = rng.uniform(0.0, tally.whole_run_s) if tally.kills < kills else None
        code, said = typed(work, ["regenerate", "--jobs", "2"], uuid.uuid4().hex, wait)
        derived += len(re.findall(r"\] derived tiny\.", said))
        if code == 0:
            return derived
        if code != -signal.SIGKILL:
            tally.wrong.append(f"exit code {code}: {said[-400:]}")
            return derived
        tally.kills += 1
        tally.at_seconds.append(round(wait or 0.0, 2))
        tally.wrong += [f"after kill {tally.kills}: {problem}" for problem in damage(work)]
        print(f"kill {tally.kills} after {wait:.1f} s", flush=True)


def typed(work: Path, arguments: list[str], token: str, wait: float | None = None) -> tuple[int, str]:
    """A command as a person types it, ended with SIGKILL after so many seconds; exit code and what it said.

    Raises:
        RuntimeError: for a command that nobody kills and that fails; for processes that a killed one left.
    """
    program = Path(sys.executable).with_name("forwardbook")
    ours = {"REGENERATE_KILLS": token, "FORWARDBOOK_PASS_ENV": "REGENERATE_KILLS"}
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | ours
    with (work / "said.txt").open("w+") as said:
        process = subprocess.Popen(
            [str(program), *arguments], cwd=work, env=environment, stdout=said, stderr=said
        )
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            _wait_for_children(token)
        said.seek(0)
        text = said.read()
    if process.returncode and wait is None:
        raise RuntimeError(f"{' '.join(arguments)}: {text}")
    return process.returncode, text


def _wait_for_children(token: str) -> None:
    until = time.monotonic() + LEFT_SECONDS
    while left := _marked(token):
        if time.monotonic() > until:
            raise RuntimeError(f"a killed regeneration left processes: {left}")
        time.sleep(0.05)


def _marked(token: str) -> list[int]:
    """Processes that carry the token in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"REGENERATE_KILLS={token}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def change(work: Path, factor: int) -> None:
    """Write the package with another factor, which all of its classes are built from."""
    folder = work / "tiny"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").touch()
    (folder / "layers.py").write_text(SOURCE.format(factor=factor), encoding="utf-8")
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)


def damage(work: Path) -> list[str]:
    """What a kill has lost: entries that cannot be read, or that are not proved any more."""
    try:
        database = Workspace(work).load()
        verdicts = {key: database[key].validation.verdict for key in sorted(database.own)}
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
        return [f"{type(error).__name__}: {error}"]
    lost = {f"tiny_{name}" for name in NAMES} - verdicts.keys()
    open_ = sorted(key for key, verdict in verdicts.items() if verdict != "exact")
    return [f"{key} is lost" for key in sorted(lost)] + [f"{key} is not exact" for key in open_]


def state(work: Path) -> dict[str, bytes]:
    """Database, calculators and report, by name; what is left of writing would be among them."""
    places = ("module_db.json", "module_db/*", "generated_modules/*", ".*.tmp", ".forwardbook/*")
    found = (path for place in places for path in work.glob(place) if path.is_file())
    return {path.relative_to(work).as_posix(): path.read_bytes() for path in found if path.suffix != ".lock"}


def _shown(tally: Tally) -> str:
    rows = [
        ["kills", f"{tally.kills}"],
        ["seed", f"{tally.seed}"],
        ["regenerations that they fell on, of six classes each", f"{tally.regenerations}"],
        ["seconds of one that nobody kills", f"{tally.whole_run_s:.1f}"],
        ["entries lost or not proved after a kill", f"{sum('after kill' in one for one in tally.wrong)}"],
        ["regenerations that ended in other files", f"{sum('not as' in one for one in tally.wrong)}"],
        ["classes told as derived, of six for each regeneration", f"{tally.derived}"],
    ]
    wrong = "\n".join(f"- {json.dumps(one)}" for one in tally.wrong)
    return table(["what", "number"], rows) + (f"\n\nWrong:\n\n{wrong}" if wrong else "")


if __name__ == "__main__":
    sys.exit(main())
