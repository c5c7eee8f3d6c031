"""How long one evaluation of a cost takes, against one run of torch's counter on the meta device.

    python -m benchmarks.evaluation [--rounds 9]

For LlamaAttention and LlamaModel: flops of one call, all quantities of one call, and both over arrays of 10^4
to 10^6 calls, per call; in turns with FlopCounterMode over the same module at the same sizes, built before.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from benchmarks.llama import ENTRY, MID
from benchmarks.measuring import Timing, about, interleaved, many, ratio
from benchmarks.ours import Ours, ours
from benchmarks.publishing import publish, table

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from torch import nn

CLASSES = ("transformers.models.llama.modeling_llama.LlamaAttention", ENTRY)
BATCH, SEQ = 1, 512
CALLS = 1000  # of an evaluation, so that the clock's resolution does not matter
POINTS = (10**4, 10**5, 10**6)
QUANTITIES = ("flops", "pointwise_ops", "reads", "writes", "weights", "boundary", "intermediates", "peak")
COUNTER = "FlopCounterMode on meta, one run"


def counted(name: str) -> tuple[Callable[[], object], int]:
    """One run of torch's counter over a ready module on meta, and the flops it reports."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    model = cast("nn.Module", MID.build("meta").model)
    mask = torch.zeros(BATCH, 1, SEQ, SEQ, device="meta")
    if name == ENTRY:
        ids = MID.ids(BATCH, SEQ, "meta")

        def call() -> object:
            return model(input_ids=ids, attention_mask=mask)
    else:
        hidden = torch.empty(BATCH, SEQ, MID.hidden_size, device="meta")
        angles = tuple(torch.empty(BATCH, SEQ, MID.head_dim, device="meta") for _ in ("cos", "sin"))
        layer = model.get_submodule("layers.0.self_attn")

        def call() -> object:
            return layer(hidden, position_embeddings=angles, attention_mask=mask)

    def run() -> int:
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            call()
        return int(counter.get_total_flops())

    return run, run()


def evaluations(one: Ours) -> dict[str, tuple[Callable[[], object], int]]:
    """What is timed of a calculator, each with the number of evaluations in a call."""
    import numpy

    sizes = one.needed(MID.sizes(BATCH, SEQ))
    found: dict[str, tuple[Callable[[], object], int]] = {
        "flops": (many(lambda: one.calculator.flops(regime=None, **sizes), CALLS), CALLS),
        "all quantities": (many(lambda: one.calculator.costs_at(sizes), CALLS // 10), CALLS // 10),
    }
    rng = numpy.random.default_rng(0)
    for points in POINTS:
        swept: dict[str, int | NDArray[numpy.int64]] = {
            **sizes,
            "batch_size": rng.integers(1, 65, points),
            "seq_len": rng.integers(2, 4097, points),
        }
        _agree(one, swept)
        found[f"flops, array of {points:,}"] = (_sweep(one, swept, ("flops",)), points)
        found[f"all quantities, arrays of {points:,}"] = (_sweep(one, swept, QUANTITIES), points)
    return found


def _sweep(one: Ours, sizes: Mapping[str, object], quantities: tuple[str, ...]) -> Callable[[], object]:
    def run() -> None:
        for quantity in quantities:
            getattr(one.calculator, quantity)(**sizes)

    return run


def _agree(one: Ours, sizes: Mapping[str, object]) -> None:
    """Some elements of an array against the integers that single calls give."""
    swept = cast("NDArray[numpy.int64]", one.calculator.flops(regime=None, **cast("dict[str, int]", sizes)))
    batch, seq = (cast("NDArray[numpy.int64]", sizes[name]) for name in ("batch_size", "seq_len"))
    for place in range(0, len(swept), len(swept) // 100):
        single = {
            **cast("dict[str, int]", sizes),
            "batch_size": int(batch[place]),
            "seq_len": int(seq[place]),
        }
        if one.calculator.flops(regime=None, **single) != swept[place]:
            raise SystemExit(f"{one.entry.full_class_name}: array and single call differ at {single}")


def measure(name: str, rounds: int) -> dict[str, object]:
    """All timings of a class, in turns, and whether the two counts are the same number."""
    one = ours(name)
    run, flops = counted(name)
    subjects = evaluations(one)
    mine = one.calculator.flops(regime=None, **one.needed(MID.sizes(BATCH, SEQ)))
    if mine != flops:
        raise SystemExit(f"{name}: the formula gives {mine}, FlopCounterMode {flops}: nothing to compare")
    timings = interleaved(
        {COUNTER: run, **{what: call for what, (call, _) in subjects.items()}}, rounds, warm=1
    )
    per = {COUNTER: 1, **{what: count for what, (_, count) in subjects.items()}}
    shared = {what: Timing(tuple(s / per[what] for s in timing.seconds)) for what, timing in timings.items()}
    turns = shared[COUNTER].seconds
    ratios = {
        what: Timing(tuple(c / s for c, s in zip(turns, timing.seconds, strict=True)))
        for what, timing in shared.items()
    }
    return {
        "class": name,
        "origin": one.origin,
        "flops": flops,
        "formula": one.entry.regimes[0].flop_analysis.flops,
        "seconds": {what: timing.record() for what, timing in shared.items()},
        "counter_over_evaluation": {what: timing.record() for what, timing in ratios.items()},
        "rows": [
            [name.rpartition(".")[2], what, shared[what].text(), ratio(ratios[what].median)]
            for what in shared
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    known = about("benchmarks.evaluation")
    done = [measure(name, options.rounds) for name in CLASSES]
    known["load_when_ended"] = os.getloadavg()[0]
    rows = [row for one in done for row in cast("list[list[str]]", one.pop("rows"))]
    header = ("class", "what", "per evaluation", "FlopCounterMode run / this")
    note = (
        f"Sizes of the mid Llama (hidden 1024, 8 layers for LlamaModel), B={BATCH}, S={SEQ}; "
        "arrays vary B in 1-64 and S in 2-4096. Median (least-greatest) over "
        f"{options.rounds} rounds in turns; ratios are medians of the ratios within a round. "
        "Both counts gave the same number of flops: "
        + ", ".join(f"{str(one['class']).rpartition('.')[2]} {one['flops']:,}" for one in done)
        + ". Building the module is not in the counter's time, nor deriving in ours."
    )
    record = {"about": known, "rounds": options.rounds, "classes": done}
    publish("evaluation", record, [table(header, rows), note])
    print(table(header, rows))


if __name__ == "__main__":
    main()
