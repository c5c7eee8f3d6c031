"""What measuring costs: the timing pass beside a bare loop, operators beside the profiler used by hand.

    python benchmarks/profile_overhead.py          # writes results/profile_overhead.json
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from time import perf_counter

import torch
from torch.profiler import ProfilerActivity, profile

from forwardbook.profiling.machine import machine
from forwardbook.profiling.passes.operators import operators
from forwardbook.profiling.passes.timing import time_calls
from forwardbook.profiling.passes.workload import Workload

ROUNDS, REPEATS, WIDTH, LAYERS = 9, 20, 512, 12
RESULT = Path(__file__).parent / "results" / "profile_overhead.json"


def workload() -> Workload:
    """A stack of linear layers, a few milliseconds a call."""
    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))).eval()
    data = torch.rand(64, WIDTH)

    def run() -> object:
        with torch.inference_mode():
            return model(data)

    return Workload(model, run, torch.device("cpu"), torch.float32, generates=False)


def bare(work: Workload) -> float:
    """Median seconds of a call in a loop with nothing but a clock around it."""
    seconds: list[float] = []
    for _ in range(REPEATS):
        start = perf_counter()
        work.run()
        seconds.append(perf_counter() - start)
    return statistics.median(seconds)


def by_hand(work: Workload) -> dict[str, int]:
    """Calls of each operator as torch's profiler, used by hand, counts them."""
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiled:
        work.run()
    return {str(one.key): int(one.count) for one in profiled.key_averages()}


def main() -> None:
    """Rounds of both in turns, so that what else the machine does meets both alike."""
    torch.set_num_threads(1)
    work = workload()
    bare(work)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        theirs.append(bare(work))
        ours.append(statistics.median(time_calls(work, REPEATS, 0).of("forward")))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    mine = {row.name: row.calls for row in operators(work, None) if row.name != "forward"}
    facts = machine()
    found = {
        "rounds": ROUNDS,
        "repeats": REPEATS,
        "bare_loop_ms": [one * 1e3 for one in theirs],
        "timing_pass_ms": [one * 1e3 for one in ours],
        "ratio_median": statistics.median(ratios),
        "ratio_range": [min(ratios), max(ratios)],
        "noise_of_bare_loop": (max(theirs) - min(theirs)) / statistics.median(theirs),
        "operator_counts_equal": mine == by_hand(work),
        "operators": mine,
        "machine": {name: facts[name] for name in ("processor", "cores", "packages")},
    }
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps({name: found[name] for name in list(found)[4:8]}, indent=1))


if __name__ == "__main__":
    main()
