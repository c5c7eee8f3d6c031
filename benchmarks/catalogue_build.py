"""Builds a catalogue cold in a workspace of its own, then again unchanged; figures and where the time went.

    OMP_NUM_THREADS=1 python -m benchmarks.catalogue_build --library transformers --jobs 2 --budget 60

`--sample 20 --seed 7` takes so many units, drawn at random, and says what they say of the whole.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import cast

from benchmarks.kills import ALONE, EMPTY, HERE
from benchmarks.measuring import about
from benchmarks.publishing import publish, table

Figures = dict[str, dict[str, float]]


def main() -> None:
    """Build twice; publish figures by verdict, seconds, and their distribution over units and classes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", dest="package", default="transformers")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--no-record", action="store_true")
    given = parser.parse_args()
    options = ["--library", given.package, "--jobs", str(given.jobs), "--budget", str(given.budget)]
    if given.sample:
        options += ["--sample", str(given.sample), "--seed", str(given.seed)]
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "module_db.json").write_text(EMPTY, encoding="utf-8")
        said, seconds = _built(Path(name), options)
        _, again = _built(Path(name), options)
        catalogue = json.loads((Path(name) / "catalogue.json").read_text(encoding="utf-8"))
    units = catalogue["libraries"][given.package]["units"]
    spent = cast("Figures", said["spent"])
    record = {
        "about": about("benchmarks.catalogue_build"),
        "build": " ".join(("forwardbook catalogue build", *options)),
        "seconds_cold": round(seconds, 1),
        "seconds_nothing_changed": round(again, 1),
        "processor": round(sum(one["processor"] for one in spent.values()), 1),
        "worker_megabytes": max(one["megabytes"] for one in spent.values()),
        "coverage": said["coverage"],
        "units": {
            unit: {**one, "classes": len(units[unit]["classes"])} for unit, one in sorted(spent.items())
        },
    }
    each = [one["processor"] / len(units[unit]["classes"]) for unit, one in spent.items()]
    shown = _table(record, [one["processor"] for one in spent.values()], each)
    print(shown)
    if not given.no_record:
        publish("catalogue_build", record, [shown])


def _built(root: Path, options: list[str]) -> tuple[dict[str, object], float]:
    """What a build says of itself as JSON, and the seconds that it took."""
    command = [sys.executable, "-c", ALONE, "catalogue", "build", "--json", *options]
    begin = time.monotonic()
    done = subprocess.run(command, cwd=root, env=os.environ | HERE, stdout=subprocess.PIPE, check=True)
    return cast("dict[str, object]", json.loads(done.stdout)), time.monotonic() - begin


def _table(record: dict[str, object], units: list[float], classes: list[float]) -> str:
    figures = cast("dict[str, object]", record["coverage"])
    names = ("found", "reached", "exact", "bounded", "wrong", "unproved")
    rows = [(name, str(figures[name])) for name in names]
    rows += [
        ("seconds, cold", f"{record['seconds_cold']}"),
        ("seconds, nothing changed", f"{record['seconds_nothing_changed']}"),
        ("seconds of processor", f"{record['processor']}"),
        ("of a unit: median, 9 in 10, most", _spread(units)),
        ("of a class, its unit's mean: median, 9 in 10, most", _spread(classes)),
        ("MB of the fullest worker", f"{record['worker_megabytes']}"),
    ]
    return table(("", str(record["build"])), rows)


def _spread(values: list[float]) -> str:
    ordered = sorted(values)
    nine = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
    return f"{statistics.median(ordered):.1f}, {nine:.1f}, {ordered[-1]:.1f}"


if __name__ == "__main__":
    main()
