"""What a GPU counted of whole models, beside the formulas, derived here and now and without one.

    python -m benchmarks.gpu_record [results/gpu_h200.json]

The record holds what `forwardbook profile run ... --device cuda` measured: flops of torch's counter, and what
the allocator of CUDA was asked for at most, which shares nothing with how formulas are derived. Ends with 1
where any number differs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.publishing import RESULTS, table

HEAD: Final = ("model", "format", "phase", "in the cache", "flops", "measured", "peak bytes", "measured")


def rows(record: dict[str, Any]) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Each recorded call: whether all numbers are equal, and these side by side."""
    import torch

    from forwardbook.pipeline.model.find import changed, find_model
    from forwardbook.pipeline.profile.model import phases_on
    from forwardbook.pipeline.profile.predict import Predictor
    from forwardbook.profiling.passes.workload import CallSeen
    from forwardbook.workspace.model_files import ModelFiles

    for run in record["runs"]:
        architecture = changed(find_model(run["model"], ModelFiles(Path.cwd())), run["set"])
        phases, *_ = phases_on(architecture, "cuda")
        dtype = getattr(torch, run["dtype"])
        predictor = Predictor({phase.name: phase for phase in phases}, dtype, run["sizes"])
        for place, one in enumerate(run["calls"]):
            total = predictor.predict(CallSeen(place, one["phase"], one["positions"], one["past"])).total
            flops, peak = int(total.flops), int(total.peak)
            equal = peak == one["peak_bytes"] and one["flops"] in (None, flops)
            numbers = (one["past"], flops, one["flops"], peak, one["peak_bytes"])
            cells = ("not counted" if value is None else f"{value:,}" for value in numbers)
            yield equal, (architecture.model_id, run["dtype"], one["phase"], *cells)


def main(arguments: list[str]) -> int:
    """The table; how many calls are equal."""
    path = Path(arguments[0]) if arguments else RESULTS / "gpu_h200.json"
    record = json.loads(path.read_text())
    found = list(rows(record))
    print(f"{record['device']}, torch {record['torch']}, {record['date']}\n")
    print(table(HEAD, [cells for _, cells in found]))
    equal = sum(one for one, _ in found)
    print(f"\n{equal} of {len(found)} calls equal in every number")
    return 0 if equal == len(found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
