"""Holds the stored formulas of torch.nn against live modules as constructors build them by default.

    OMP_NUM_THREADS=1 python -m benchmarks.torch_nn_defaults [--only Conv2d,Linear]

Every way to call a class that has a row is built with its constructor's defaults and called at batch 1 and 2,
at sequences of 1 and 16, with one head and four. `evaluate` must give what `forwardbook.cost` of the module
gives in all eight quantities, or refuse where torch refuses. Prints each call where it does not, and exits 1.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

import torch

import forwardbook
from forwardbook import registry
from forwardbook.analyzers.instances.names import NAMES
from forwardbook.analyzers.instances.notation import Row
from forwardbook.analyzers.instances.recipe import full_name
from forwardbook.analyzers.instances.tensors import PlainMaker
from forwardbook.analyzers.instances.torch_nn import rows
from forwardbook.errors import ForwardbookError
from forwardbook.schema import QUANTITIES

BATCHES, LENGTHS, HEADS = (1, 2), (1, 16), (1, 4)
LENGTH_NAMES = {"seq_len", "tgt_len", "src_len"}
DEFAULTS = {"stride": 1, "dilation": 1, "groups": 1, "num_layers": 1, "output_padding": 0, "padding": 0}
SIZES = {
    **{"num_encoder_layers": 2, "num_decoder_layers": 2, "channels": 16, "num_groups": 4, "size": 5},
    **{"in_channels": 8, "out_channels": 24, "kernel_size": 3, "output_size": 12, "upscale_factor": 2},
    **{"downscale_factor": 2, "length": 24, "depth": 14, "height": 20, "width": 18, "features": 32},
    **{"num_parameters": 8, "hidden_size": 24, "input_size": 16, "proj_size": 8, "embed_dim": 32},
    **{"d_model": 32, "dim_feedforward": 64, "kdim": 20, "vdim": 28, "num_channels": 16, "target_len": 3},
    **{"num_classes": 10, "n_classes": 40, "cutoffs_0": 10, "cutoffs_1": 20, "num_embeddings": 40},
}


@dataclass
class Score:
    """What came of the calls of one class."""

    counts: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)


def calls(row: Row) -> list[dict[str, int]]:
    """The sizes of each call of a row, each once."""
    found: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
    for batch, length, heads in product(BATCHES, LENGTHS, HEADS):
        chosen = {"batch_size": batch, "num_bags": batch, "num_heads": heads, "nhead": heads}
        chosen |= dict.fromkeys(LENGTH_NAMES, length)
        sizes = {name: chosen.get(name) or size_of(row, name) for name in sorted(row.names())}
        if row.needs_values:  # its lengths and labels must fit each other
            sizes |= {name: size for name, size in row.hints.items() if name != "batch_size" or batch == 2}
        found.setdefault(tuple(sizes.items()), sizes)
    return list(found.values())


def size_of(row: Row, name: str) -> int:
    """The default where the constructor has one, else an ordinary size."""
    plain = name.rstrip("_0123456789")
    if name in SIZES or plain in SIZES:
        return SIZES.get(name, SIZES.get(plain, 0))
    if name.startswith("padding_"):
        return DEFAULTS["padding"]
    return DEFAULTS.get(plain, row.hints.get(name, NAMES[name][0]))


def live(row: Row, sizes: Mapping[str, int]) -> dict[str, int]:
    """What `forwardbook.cost` says of a module that is built and called as the row says."""

    def size(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        return sizes[name]

    device = "cpu" if row.needs_values or "Embedding" in row.text else "meta"
    with torch.device(device):
        module = row.build(size).eval()
    arguments, keywords = row.inputs(size, module, PlainMaker(device))
    report = forwardbook.cost(module, *arguments, **keywords)
    return {name: getattr(report, name) for name in QUANTITIES}


def stored(key: str, row: Row, sizes: Mapping[str, int]) -> dict[str, int]:
    """What the calculator of the class gives for the same call."""
    calculator = registry.load(key)
    made = row.choices(getattr(importlib.import_module(row.home), row.class_name))
    named = {name for regime in calculator.regimes for name in regime.choices}
    widths = {"w_dtype_bytes": 4, "a_dtype_bytes": 4}
    asked = {name for regime in calculator.regimes for name in regime.names}
    given = {name: value for name, value in sizes.items() if name in asked} | widths
    costs = calculator.costs_at(given, choices={n: v for n, v in made.items() if n in named})
    return {name: getattr(costs, name) for name in QUANTITIES}


def score_of(name: str, ways: tuple[Row, ...]) -> Score:
    """Every call of every row of a class."""
    score = Score()
    for row in ways:
        cls = getattr(importlib.import_module(row.home), row.class_name)
        for sizes in calls(row):
            said = ", ".join(f"{n}={v}" for n, v in sorted(sizes.items()))
            try:
                measured = live(row, sizes)
            except Exception as error:  # noqa: BLE001 - torch refuses the call, with whatever it raises
                score.counts["torch refuses"] += 1
                reason = str(error).splitlines()[0] if str(error) else type(error).__name__
                if score.counts["torch refuses"] == 1:
                    score.said.append(f"torch refuses {row.scenario}: {said}: {reason[:120]}")
                continue
            try:
                given = stored(full_name(cls), row, sizes)
            except ForwardbookError as error:
                score.counts["refused"] += 1
                score.said.append(f"refused {row.scenario}: {said}: {str(error)[:700]}")
                continue
            wrong = {q: (given[q], measured[q]) for q in QUANTITIES if given[q] != measured[q]}
            score.counts["different" if wrong else "equal"] += 1
            if wrong:
                score.said.append(f"different {row.scenario}: {said}: stored, live {wrong}")
    return score


def main() -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--only", default="", help="names of classes, with commas")
    parser.add_argument("--all", action="store_true", help="also what torch refuses")
    options = parser.parse_args()
    wanted = set(filter(None, options.only.split(",")))
    total: Counter[str] = Counter()
    for name, ways in sorted(rows().items()):
        if wanted and name not in wanted:
            continue
        score = score_of(name, ways)
        total += score.counts
        for said in score.said:
            if options.all or not said.startswith("torch refuses"):
                print(f"{name}: {said}", flush=True)
    print(", ".join(f"{kind} {count}" for kind, count in sorted(total.items())))
    return 1 if total["refused"] or total["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
