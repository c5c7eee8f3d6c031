"""The site with the whole catalogue, and with as many entries more as asked for: written, built, built again.

    python -m benchmarks.site --more 3000

A workspace stands on the shipped database, so its site has a page of every entry of that. Those added are
the same entries again and again under other keys, so that their pages weigh what real ones do. Each step runs
in a process of its own, whose processor time and largest memory are recorded, and the sum of what it and all
that it started held at one moment. `--memory` records only the memory, which does not depend on what else the
machine does.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.measuring import ROOT, about
from benchmarks.publishing import publish, table
from benchmarks.site_search import searched

from forwardbook.workspace import Workspace

LEAN = {"cpu_s": "61-78", "memory_mib": "257", "index_mb": "0.71"}
"""The lean configuration of the study that this one follows: 3,061 pages of 6.3 kB each."""


@dataclass(frozen=True)
class Step:
    """One run of a command: what it was for, seconds on the clock and of the processor, memory in MiB.

    `memory_mib` is the largest that one process ever held, as the system counts it, `together_mib` the
    largest sum over all that were alive at once, looked at every 20 ms; what they share counts for each.
    """

    name: str
    wall_s: float
    cpu_s: float
    memory_mib: float
    together_mib: float
    said: str


def main() -> None:
    """Measure all steps and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--more", type=int, default=0, help="entries beside the shipped ones")
    parser.add_argument("--memory", action="store_true", help="record memory alone, in results/site_memory")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--change", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make or given.change:
        print(make_trial(given.make, given.more) if given.make else change_one(given.change))
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        count = int(apart("--more", str(given.more), "--make", folder))
        steps = measured(root)
        figures = sizes(root) if given.memory else {**sizes(root), **searched(root / "site")}
    record = {"about": about("benchmarks.site", ("mkdocs", "mkdocs-material")), "entries": count,
              "steps": [asdict(step) for step in steps], "site": figures, "lean": LEAN}  # fmt: skip
    if given.memory:
        publish("site_memory", record, [_memory(steps, count, figures["database_mb"])])
    else:
        publish("site", record, [_steps(steps, count), _sizes(figures)])


def apart(*arguments: str) -> str:
    """Work on the whole database in another process: memory of a step counts that of its parent."""
    command = [sys.executable, "-m", "benchmarks.site", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def make_trial(root: Path, more: int) -> int:
    """A workspace with so many entries beside the shipped ones, this repository's documents and models."""
    real = Workspace(ROOT).load()
    keys = list(real)
    made = {}
    for number in range(more):
        key, turn = keys[number % len(keys)], number // len(keys)
        target = real[key].same_as
        led = None if target is None else f"{target}_{turn:03d}"
        made[f"{key}_{turn:03d}"] = real[key].model_copy(update={"same_as": led})
    made = {key: entry for key, entry in made.items() if entry.same_as is None or entry.same_as in made}
    Workspace(root).save(made, rules_version=real.rules_version)
    (root / "docs").mkdir()
    for path in (ROOT / "docs").glob("*.md"):
        shutil.copy(path, root / "docs")
    shutil.copytree(ROOT / "models", root / "models")
    shutil.copy(ROOT / "mkdocs.yml", root)
    return len(Workspace(root).load())


def measured(root: Path) -> list[Step]:
    """Pages written, the site built with every link checked, then unchanged, then after one change."""
    program = [sys.executable, "-m", "forwardbook", "site"]
    steps = [
        run("write every page", [*program, "prepare"], root),
        run("build every page, strict", [*program, "build", "--clean"], root),
        run("build again, nothing changed", [*program, "build"], root),
    ]
    apart("--change", str(root))
    steps.append(run("build again, one entry changed", [*program, "build"], root))
    steps.append(run("mkdocs alone, every page, strict", [sys.executable, "-c", MKDOCS], root))
    return steps


MKDOCS = """
from mkdocs.commands.build import build
from mkdocs.config import load_config
config = load_config("mkdocs.yml", strict=True)
config.plugins["forwardbook"].config["prepare"] = False
config.plugins.on_startup(command="build", dirty=False)
build(config)
"""


def _database_mb(root: Path) -> float:
    files = [path for folder in (ROOT, root) for path in (folder / "module_db").glob("*.json")]
    files += [folder / "module_db.json" for folder in (ROOT, root)]
    return sum(path.stat().st_size for path in files) / 1e6


def change_one(root: Path) -> None:
    """Let a person have checked one entry."""
    key, entry = next(iter(Workspace(root).load().items()))
    checked = entry.validation.model_copy(update={"human_validated": True})
    Workspace(root).save({key: entry.model_copy(update={"validation": checked})})


def run(name: str, command: list[str], folder: Path) -> Step:
    """One command, measured by what the system says of it when it has ended."""
    before = time.monotonic()
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    together = Together(process.pid)
    together.start()
    said = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - before
    together.ended.set()
    together.join()
    if process.returncode:
        raise SystemExit(f"{name} failed:\n{said}")
    said = re.sub(r"\S*/(?=docs|site)", "", said.strip())
    return Step(name, wall, *_spent(usage), together.most / 2**20, said)


class Together(threading.Thread):
    """Looks again and again at how many bytes a process and all that it started hold; `most` of all looks."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.most, self.ended = pid, 0, threading.Event()

    def run(self) -> None:
        """Look until it has ended."""
        while not self.ended.wait(0.02):
            self.most = max(self.most, sum(_resident(pid) for pid in _family(self.pid)))


def _family(pid: int) -> Iterator[int]:
    yield pid
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in tasks.read_text().split():
                yield from _family(int(child))


def _resident(pid: int) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _spent(usage: resource.struct_rusage) -> tuple[float, float]:
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def sizes(root: Path) -> dict[str, float]:
    """Files of the site and their bytes."""
    pages = [path.stat().st_size for path in (root / "site").rglob("*.html")]
    everything = sum(path.stat().st_size for path in (root / "site").rglob("*") if path.is_file())
    index = (root / "site" / "search" / "search_index.json").stat().st_size
    catalogue = (root / "site" / "book" / "assets" / "data" / "catalogue.json").stat().st_size
    return {
        "pages": len(pages),
        "site_mb": everything / 1e6,
        "page_kb": sum(pages) / len(pages) / 1e3,
        "search_index_mb": index / 1e6,
        "catalogue_mb": catalogue / 1e6,
        "database_mb": _database_mb(root),
    }


def _steps(steps: list[Step], count: int) -> str:
    rows = [
        [step.name, f"{step.wall_s:.1f}", f"{step.cpu_s:.1f}", f"{step.memory_mib:.0f}"] for step in steps
    ]
    head = ["step", "seconds on the clock", "seconds of the processor", "largest memory, MiB"]
    return f"**{count:,} entries**\n\n{table(head, rows)}"


def _memory(steps: list[Step], count: int, database: float) -> str:
    rows = [[step.name, f"{step.memory_mib:.0f}", f"{step.together_mib:.0f}"] for step in steps]
    head = ["step", "largest process, MiB", "all processes at once, MiB"]
    return f"**{count:,} entries, a database of {database:.0f} MB**\n\n{table(head, rows)}"


def _sizes(figures: dict[str, float]) -> str:
    rows = [
        ["pages", f"{figures['pages']:,.0f}"],
        ["the site, MB", f"{figures['site_mb']:.0f}"],
        ["a page on average, kB", f"{figures['page_kb']:.0f}"],
        ["search index, MB", f"{figures['search_index_mb']:.2f}"],
        ["catalogue index, MB", f"{figures['catalogue_mb']:.2f}"],
        ["database, MB", f"{figures['database_mb']:.0f}"],
    ]
    if "first_result_s" in figures:
        rows += [
            ["first result of a search, seconds", f"{figures['first_result_s']:.2f}"],
            ["first rows of the catalogue, seconds", f"{figures['catalogue_rows_s']:.2f}"],
        ]
    return table(["what", "size"], rows)


if __name__ == "__main__":
    main()
