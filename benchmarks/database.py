"""Measures a database of a whole catalogue: its files, loading, looking up, saving one entry, and the memory.

    OMP_NUM_THREADS=1 python -m benchmarks.database --entries 7000 --copies 0.3

The entries are those of the shipped database again and again, in families of their own; the share `--copies`
of them leads to another's formulas. Each figure is the median of five fresh processes, on the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from benchmarks.measuring import ROOT, about
from benchmarks.publishing import publish, table

from forwardbook.pipeline.catalogue.share import copy_of
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace

PROBE = """
import resource, sys, time
from pathlib import Path
import forwardbook.workspace.folder as folder
folder.shipped_path = lambda: None
from forwardbook.workspace import Workspace
import forwardbook.registry
workspace = Workspace(Path(sys.argv[1]))
entry_of = forwardbook.registry.find
def seconds(job):
    begin = time.process_time()
    found = job()
    return time.process_time() - begin, found
def megabytes():
    return int(next(l for l in open("/proc/self/status") if l.startswith("VmRSS")).split()[1]) / 1024
before = megabytes()
load, database = seconds(workspace.load)
by_key, _ = seconds(lambda: database[sys.argv[2]])
by_name, _ = seconds(lambda: database[database.key_of(sys.argv[3])])
held = megabytes() - before
each, _ = seconds(lambda: sum(len(database.raw(key)) for key in database))
every = megabytes() - before
save, _ = seconds(lambda: workspace.save({sys.argv[2]: database[sys.argv[2]]}))
print([1000 * load, 1000 * by_key, 1000 * by_name, held, each, every, 1000 * save])
"""
ROUNDS = 5
NAMES = (
    "loading, ms",
    "first look-up by key, ms",
    "first look-up by class, ms",
    "memory after that, MiB",
    "decoding every entry, seconds",
    "memory after that, MiB ",
    "saving one entry, ms",
)


def main() -> None:
    """Make the database, measure, publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=7000)
    parser.add_argument("--copies", type=float, default=0.3)
    parser.add_argument("--keep", type=Path, help="leave the database in this folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = given.keep or Path(name)
        root.mkdir(exist_ok=True)
        keys = make(root, given.entries, given.copies)
        files = [root / "module_db.json", *sorted((root / "module_db").glob("*.json"))]
        sizes = [path.stat().st_size for path in files]
        rng = random.Random(1)
        runs = []
        for _ in range(ROUNDS):
            key = rng.choice(keys)
            runs.append(_probed(root, key, Workspace(root).load().head(rng.choice(keys)).full_class_name))
        packed = sum(len(zlib.compress(path.read_bytes(), 6)) for path in files)
    figures = {name: statistics.median(run[place] for run in runs) for place, name in enumerate(NAMES)}
    size = {
        "entries": len(keys),
        "files of families": len(files) - 1,
        "all files, MB": sum(sizes) / 1e6,
        "main file with the index, MB": sizes[0] / 1e6,
        "file of a family, median, kB": statistics.median(sizes[1:]) / 1e3,
        "largest file of a family, MB": max(sizes[1:]) / 1e6,
        "compressed as in a wheel, MB": packed / 1e6,
    }
    record = {"about": about("benchmarks.database", ("msgspec",)), "copies": given.copies, "size": size,
              "figures": figures, "runs": runs}  # fmt: skip
    rows = [(name, f"{value:,.2f}" if isinstance(value, float) else f"{value:,}") for name, value in
            {**size, **figures}.items()]  # fmt: skip
    publish("database", record, [table(("what", "figure"), rows)])
    print(json.dumps({**size, **figures}, indent=1))


def make(root: Path, count: int, copies: float) -> list[str]:
    """So many entries, of families of a dozen; the keys."""
    shipped = Workspace(ROOT).load()
    originals = [shipped[key] for key in shipped if shipped[key].library == "transformers"]
    torch = {key: shipped[key] for key in shipped if shipped[key].library == "torch"}
    rng = random.Random(1)
    made: dict[str, Entry] = dict(torch)
    for number in range(count - len(torch)):
        entry = originals[number % len(originals)]
        family = f"transformers.models.family{number // 12:04d}.modeling_family{number // 12:04d}"
        name = f"{entry.class_name}{number:04d}"
        key = f"transformers_{name}"
        names = {
            "full_class_name": f"{family}.{name}",
            "generated_file_name": f"{key.lower()}.py",
            "generated_class_name": f"{name}Calculator",
        }
        one = entry.model_copy(update=names)
        made[key] = copy_of(one, rng.choice(sorted(torch))) if rng.random() < copies else one
    Workspace(root).save(made, rules_version=shipped.rules_version)
    return sorted(made)


def _probed(root: Path, key: str, name: str) -> list[float]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", PROBE, str(root), key, name]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    found: list[float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
