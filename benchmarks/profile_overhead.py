"""What measuring costs: the timing pass beside a bare loop, operators beside the profiler used by hand.

    make bench-profile          # writes results/profile_overhead.json

Both sides take turns call by call, so that what else the machine does meets both alike. The noise is what the
bare loop shows against itself: the median of its even rounds beside that of its odd ones.
"""

from __future__ import annotations

import json
import os
import statistics
from pathlib import Path
from time import perf_counter

import torch
from torch.profiler import ProfilerActivity, profile

from forwardbook.profiling.machine import machine
from forwardbook.profiling.passes.operators import operators
from forwardbook.profiling.passes.timing import time_calls
from forwardbook.profiling.passes.workload import Workload

CALLS, WARMUP, ROUNDS, WIDTH, LAYERS = 1000, 30, 200, 512, 12
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
    """Seconds of one call with nothing but a clock around it."""
    start = perf_counter()
    work.run()
    return perf_counter() - start


def timed(work: Workload) -> float:
    """Seconds of one call as the timing pass takes them."""
    return time_calls(work, 1, 0).of("forward")[0]


def by_hand(work: Workload) -> dict[str, tuple[int, float]]:
    """Calls of each operator, and microseconds of itself, as torch's profiler used by hand has them."""
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiled:
        work.run()
    return {str(one.key): (int(one.count), float(one.self_cpu_time_total)) for one in profiled.key_averages()}


def by_pass(work: Workload) -> dict[str, tuple[int, float]]:
    """The same as the pass of operators has them."""
    return {row.name: (row.calls, row.self_cpu_us) for row in operators(work, None)}


def own_time(rows: dict[str, tuple[int, float]]) -> float:
    """Microseconds of all operators by themselves."""
    return sum(spent for _, spent in rows.values())


def main() -> None:
    """Calls of both in turns; what came out, written and printed."""
    torch.set_num_threads(1)
    work = workload()
    for _ in range(WARMUP):
        bare(work)
    turns = [(bare(work), timed(work)) for _ in range(CALLS)]
    theirs, ours = [one for one, _ in turns], [one for _, one in turns]
    rounds = [(by_hand(work), by_pass(work)) for _ in range(ROUNDS)]
    hand, own = [own_time(one) for one, _ in rounds], [own_time(one) for _, one in rounds]
    facts = machine()
    found = {
        "calls": CALLS,
        "bare_loop_s": theirs,
        "timing_pass_s": ours,
        "timing_median_ratio": statistics.median(ours) / statistics.median(theirs),
        "timing_best_ratio": min(ours) / min(theirs),
        "bare_median_against_itself": statistics.median(theirs[::2]) / statistics.median(theirs[1::2]),
        "bare_quartiles_ms": [one * 1e3 for one in statistics.quantiles(theirs, n=4)],
        "timing_quartiles_ms": [one * 1e3 for one in statistics.quantiles(ours, n=4)],
        "operator_rounds": ROUNDS,
        "operator_counts_equal": all(_counts(one) == _counts(other) for one, other in rounds),
        "operators_by_hand_us": hand,
        "operators_by_pass_us": own,
        "operators_median_ratio": statistics.median(own) / statistics.median(hand),
        "operators_best_ratio": min(own) / min(hand),
        "operators": {name: calls for name, (calls, _) in rounds[0][1].items()},
        "machine": {name: facts[name] for name in ("processor", "cores", "packages")},
        "load_average": os.getloadavg(),
    }
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    shown = [
        name for name in found if "ratio" in name or "equal" in name or "against" in name or "load" in name
    ]
    print(json.dumps({name: found[name] for name in shown}, indent=1))


def _counts(rows: dict[str, tuple[int, float]]) -> dict[str, int]:
    return {name: calls for name, (calls, _) in rows.items()}


if __name__ == "__main__":
    main()
