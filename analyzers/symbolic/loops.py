"""Recovers a size that Python consumed as a number (a loop count): exact interpolation with every other symbol kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.ops import Size
from forwardbook.analyzers.symbolic.patterns import Pattern, pattern_at
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.analyzers.symbolic.summary import LineSummary, Summary
from forwardbook.cost import Cost
from forwardbook.formula import Expr

POINTS = 5  # a polynomial of degree 2 needs three; two more are held out and must agree
MAX_DEGREE = 2


def without_loops(
    recipe: Recipe,
    dtype: torch.dtype,
    pattern: Pattern,
    names: Sequence[str],
    step: Mapping[str, int],
    start: Mapping[str, int],
    pinned: Mapping[str, int] | None = None,
) -> Pattern | None:
    """The pattern with `names`, consumed as numbers, made symbolic again; None where no polynomial fits.

    Each name takes POINTS values from start[name] on, step[name] apart; the last of `names` varies fastest.
    """
    if not names:
        run = run_symbolically(recipe, dtype, pinned=pinned)
        return pattern_at(run, pattern.path, pattern.occurrence)
    name, *rest = names
    found: dict[int, Pattern] = {}
    for index in range(POINTS):
        value = start[name] + index * step[name]
        one = without_loops(recipe, dtype, pattern, rest, step, start, {**(pinned or {}), name: value})
        if one is None:
            return None
        found[value] = one
    summary = _interpolated(name, {value: p.summary for value, p in found.items()})
    return replace(pattern, summary=summary) if summary is not None else None


def _interpolated(name: str, summaries: Mapping[int, Summary]) -> Summary | None:
    def fit(values: Mapping[int, Size]) -> Size | None:
        return Expr.interpolate(name, {x: Expr.of(v) for x, v in values.items()}, max_degree=MAX_DEGREE)

    def fit_cost(costs: Mapping[int, Cost]) -> Cost | None:
        parts = [
            fit({x: getattr(c, field) for x, c in costs.items()})
            for field in ("flops", "pointwise_ops", "reads", "writes")
        ]
        return None if any(p is None for p in parts) else Cost(*parts)  # type: ignore[arg-type]

    last = summaries[max(summaries)]
    lines = _lines(summaries, fit_cost)
    totals = fit_cost({x: s.totals for x, s in summaries.items()})
    bytes_ = [fit({x: getattr(s, f) for x, s in summaries.items()}) for f in ("weights", "boundary", "intermediates")]
    peaks = _peaks(summaries, fit)
    if lines is None or totals is None or peaks is None or any(b is None for b in bytes_):
        return None
    return replace(
        last, totals=totals, lines=lines, peaks=peaks, weights=bytes_[0], boundary=bytes_[1], intermediates=bytes_[2]
    )


def _lines(summaries: Mapping[int, Summary], fit_cost: object) -> tuple[LineSummary, ...] | None:
    tables = {x: {line.key: line for line in s.lines} for x, s in summaries.items()}
    keys = dict.fromkeys(key for table in tables.values() for key in table)
    fitted = []
    for key in keys:
        costs = {x: table[key].cost if key in table else Cost.zero() for x, table in tables.items()}
        cost = fit_cost(costs)  # type: ignore[operator]
        if cost is None:
            return None
        shown = next(table[key] for table in reversed(tables.values()) if key in table)
        fitted.append(replace(shown, cost=cost))
    return tuple(sorted(fitted, key=lambda line: line.key))


def _peaks(summaries: Mapping[int, Summary], fit: object) -> tuple[Size, ...] | None:
    """Candidates aligned by rank; where their number differs between points, only the common leading ones."""
    count = min(len(s.peaks) for s in summaries.values())
    fitted = []
    for rank in range(count):
        one = fit({x: s.peaks[rank] for x, s in summaries.items()})  # type: ignore[operator]
        if one is not None:
            fitted.append(one)
        elif rank == 0:
            return None
    return tuple(fitted)
