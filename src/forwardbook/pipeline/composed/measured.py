"""Runs a class alone at sizes, and says where formulas give other numbers than the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from forwardbook.analyzers.derive.local import Local
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS, run_measured
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.entries.evaluate import Evaluation, Evaluator
from forwardbook.entries.lines import line_amounts
from forwardbook.formula import Expr
from forwardbook.schema import PER_LINE

NO_REGIME = "no regime holds"
LOW, WIDE = torch.bfloat16, torch.float32


@dataclass(frozen=True)
class Measurement:
    """What one run cost: every quantity, and the sums of each line by its number."""

    sizes: dict[str, int]
    quantities: dict[str, int]
    lines: dict[tuple[int, str], int]


def measured(local: Local, sizes: Mapping[str, int], widths: Mapping[str, int], full: bool) -> Measurement:
    """One run on meta, in float32 if `full`, else in bfloat16, at sizes and widths.

    Raises:
        Exception: whatever the class raises there.
    """
    w, a, kv = (widths[name] for name in SYMBOLIC_WIDTHS)
    trace, _ = run_measured(local.recipe(), sizes, WIDE if full else LOW, Widths(w, a, kv))
    summary = summarise(trace, trace.calls[0], {})
    found = {name: Expr.of(size).const_value() for name, size in summary.quantities().items()}
    lines: Counter[tuple[int, str]] = Counter()
    for line in summary.lines:
        for name in PER_LINE:
            lines[line.key[1], name] += Expr.of(getattr(line.cost, name)).const_value()
    return Measurement({**sizes, **widths}, found, dict(lines))


def difference(evaluator: Evaluator, one: Evaluation | None, real: Measurement) -> str:
    """The first number that formulas give otherwise than a run did; nothing where all are equal."""
    if one is None:
        return NO_REGIME
    ours = one.costs
    for name, value in real.quantities.items():
        if getattr(ours, name) != value:
            return f"{name} {getattr(ours, name):,}, measured {value:,}"
    lines = line_amounts(evaluator, one)
    for place in sorted(lines.keys() | real.lines.keys()):
        if lines.get(place, 0) != real.lines.get(place, 0):
            line, name = place
            return f"line {line}: {name} {lines.get(place, 0):,}, measured {real.lines.get(place, 0):,}"
    return ""
