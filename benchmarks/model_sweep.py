"""Ranges of sizes in; how long a sweep of 10,000 points of a whole model takes, checked point by point, out.

    python -m benchmarks.model_sweep [--rounds 5]

The function is the one behind `forwardbook analyze-model --sweep`; the command itself is timed as well.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from benchmarks.measuring import ROOT, Timing, spread, timed
from benchmarks.publishing import table

if TYPE_CHECKING:
    from forwardbook.models.sweep import Columns

MODELS: Final = ("llama-2-7b", "qwen3-30b-a3b", "deepseek-v3", "t5-base")
RANGES: Final = "batch_size=1:100:+1,seq_len=32:3200:+32"
FIXED: Final[Mapping[str, Mapping[str, int]]] = {"t5-base": {"decoder_seq_len": 64}}
CHECKED: Final = 100  # of the points are evaluated alone too
Outcome = dict[str, object]


def swept(models: Sequence[str] = MODELS, rounds: int = 5) -> Outcome:
    """For each model the seconds of the function and of the command, and whether single points agree."""
    return {"ranges": RANGES, "models": [_one(model_id, rounds) for model_id in models]}


def _one(model_id: str, rounds: int) -> Outcome:
    from forwardbook.models.sweep import axes
    from forwardbook.models.totals import NAMES, Widths, holding, whole
    from forwardbook.pipeline.model.analysis import Request, checked
    from forwardbook.pipeline.model.sweep import sweep
    from forwardbook.workspace.model_files import ModelFiles

    sizes, ranges = dict(FIXED.get(model_id, {})), axes(RANGES)
    first = {**sizes, **{name: values[0] for name, values in ranges.items()}}
    bits = {"w_bit": 16, "a_bit": 16, "kv_bit": 16}
    asked = checked(Request(model_id, first, bits), ModelFiles(ROOT))
    found: list[Columns] = []
    timing = [timed(lambda: found.append(sweep(asked, ranges)["prefill"])) for _ in range(rounds + 1)]
    columns = found[-1]
    points = len(columns["flops"])
    assert asked.model.costs is not None
    different = 0
    for place in range(0, points, points // CHECKED):
        at = {**sizes, **{name: int(columns[name][place]) for name in ranges}}
        alone = whole(holding(asked.model.costs.phases, "prefill", at, Widths()), at, Widths()).whole()
        different += any(int(columns[name][place]) != alone[name] for name in NAMES)
    command = timed(lambda: _command(model_id, sizes))
    return {
        "model": model_id,
        "points": points,
        "checked": CHECKED,
        "different": different,
        "first_seconds": timing[0],
        "seconds": Timing(tuple(timing[1:])).record(),
        "command_seconds": command,
    }


def _command(model_id: str, sizes: Mapping[str, int]) -> None:
    """The command, in a process of its own, writing the table."""
    with tempfile.TemporaryDirectory() as folder:
        fixed = [text for name, size in sizes.items() for text in (f"--{name}", str(size))]
        where = ["--csv", str(Path(folder) / "sweep.csv")]
        command = [sys.executable, "-P", "-m", "forwardbook", "analyze-model", model_id]
        done = subprocess.run(
            [*command, "--sweep", RANGES, *fixed, *where], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"sweeping {model_id}: {done.stderr.strip()[-500:]}")


def described(record: Outcome) -> str:
    """The sweeps as a table."""
    rows = []
    for one in cast("Sequence[Outcome]", record["models"]):
        seconds = cast("Mapping[str, float]", one["seconds"])
        rows.append(
            [
                str(one["model"]),
                f"{one['points']:,}",
                spread(seconds["median"], seconds["least"], seconds["greatest"]),
                f"{cast('float', one['first_seconds']):.2f} s",
                f"{cast('float', one['command_seconds']):.2f} s",
                f"{one['different']} of {one['checked']} differ",
            ]
        )
    header = ("model", "points", "the sweep", "the first one", "the whole command", "against single points")
    return f"`--sweep {record['ranges']}`, eight quantities, cache and memory:\n\n" + table(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    print(described(swept(rounds=parser.parse_args().rounds)))


if __name__ == "__main__":
    main()
