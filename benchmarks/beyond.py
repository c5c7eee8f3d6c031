"""Packages in; out how far their catalogues come beside transformers': results/beyond.json and .md.

`python -m benchmarks.beyond vit_pytorch:6 diffusers:6 ...` runs `forwardbook catalogue build` on so many
units of each installed package, drawn from `--seed`, in an empty folder. `--taken FOLDER` records runs that
were made before: NAME.json is what the command printed with `--json`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from benchmarks.measuring import ROOT, about

RESULTS = ROOT / "benchmarks" / "results"
DISTRIBUTIONS = {"torch_geometric": "torch-geometric", "vit_pytorch": "vit-pytorch"}
REASONS = 8
"""Reasons of each package in the table; the record has all."""
Printed = Mapping[str, object]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run or read, and write the record."""
    given = _parser().parse_args(arguments)
    found: dict[str, Printed] = {}
    for spec in given.packages:
        name, _, units = spec.partition(":")
        if given.taken is not None:
            found[name] = json.loads((given.taken / f"{name}.json").read_text(encoding="utf-8"))
        else:
            found[name] = _built(name, units, given.seed, given.budget)
    names = [DISTRIBUTIONS.get(name, name.replace("_", "-")) for name in found]
    described = about("benchmarks.beyond", names)
    if given.taken is not None:  # the note tells the commands
        described["command"] = f"python -m benchmarks.beyond {' '.join(given.packages)} --taken ..."
    record = {"about": described, "seed": given.seed, "budget": given.budget}
    record |= {"note": given.note, "packages": found}
    (RESULTS / "beyond.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "beyond.md").write_text(table(found), encoding="utf-8")
    print(table(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="+", help="package, or package:units")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of processor time for a unit")
    parser.add_argument("--taken", type=Path, default=None, help="a folder of outputs")
    parser.add_argument("--note", default="", help="what else a reader must know of the runs")
    return parser


def _built(name: str, units: str, seed: int, budget: float) -> Printed:
    """What the command prints; it runs in an empty folder."""
    command = [sys.executable, "-m", "forwardbook", "catalogue", "build", "--library", name, "--json"]
    command += ["--seed", str(seed), "--budget", str(budget), *(["--sample", units] if units else [])]
    with tempfile.TemporaryDirectory(prefix="forwardbook-beyond-") as folder:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return cast(Printed, json.loads(done.stdout))


def table(found: Mapping[str, Printed]) -> str:
    """A line for each package, then the reasons of each."""
    lines = [
        "| package | found | reached | exact | bounded | wrong | unproved | reached of found "
        "| exact of reached |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, printed in found.items():
        share = cast("Mapping[str, int]", printed["coverage"])
        counts = [share[key] for key in ("found", "reached", "exact", "bounded", "wrong", "unproved")]
        cells = [name, *counts, _percent(share["reached"], share["found"])]
        cells.append(_percent(share["exact"], share["reached"]))
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    for name, printed in found.items():
        lines += ["", f"**{name}**, why not exact:", ""]
        reasons = cast("Mapping[str, Sequence[Mapping[str, object]]]", printed["coverage"])["reasons"]
        lines += [_reason(one) for one in reasons[:REASONS]]
    return "\n".join(lines) + "\n"


def _reason(one: Mapping[str, object]) -> str:
    """Words of analysed code stand as they are, in a code span."""
    said = f"{one['kind']}: {one['reason']}".replace("`", "'")
    place = str(one["place"]).partition(" in ")[0]
    return f"- {one['classes']} {one['state']}: `{said}`" + (f" ({place})" if place else "")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


if __name__ == "__main__":
    main()
