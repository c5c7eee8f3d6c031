"""Call patterns and sizes in; out sizes at which other states of memory are their peaks.

What comes, or goes, with a size is not missed where another state is larger: a single run tells little of it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import torch

from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation.fruitless import Fruitless
from forwardbook.profiling.proof import predict, widths_of
from forwardbook.profiling.sizes import draw

DRAWS: Final = 6  # states of memory for each of which sizes are looked for at which it is the peak
TRIES: Final = 2  # to draw these
LONG: Final = 4  # times as many of what loops count as the run had: of layers each takes its time

Counts = Mapping[str, int]


def at_other_peaks(
    patterns: Iterable[Pattern],
    dtype: torch.dtype,
    sizes: Counts,
    numbers: Counts,
    wanted: Sequence[Condition],
    rng: random.Random,
    fixed: Counts,
    counted: Collection[str],
    fruitless: Fruitless | None = None,
) -> dict[str, int] | None:
    """Sizes at which other states are the peak than at `sizes`, of as many patterns as found.

    `numbers` are the sizes of the run that they stem from; `wanted` holds, and `fixed` is as it says. Those
    that are `counted` in loops are few: a thousand layers would outgrow any state, and be run for minutes.
    What is known to be `fruitless` is not tried.
    """
    larger = [condition for pattern in patterns for condition in _larger(pattern, dtype, sizes)]
    short = [Condition.at_most(name, LONG * numbers[name]) for name in sorted(counted) if name in numbers]
    found: list[dict[str, int]] = []
    fruitless = fruitless or Fruitless()
    for one in list(dict.fromkeys(larger))[:DRAWS]:
        if not any(one.is_met(drawn) for drawn in found):
            asked = [*wanted, *short, one]
            find = partial(draw, numbers, asked, rng, fixed, attempts=TRIES)
            drawn = fruitless.sought(numbers, asked, find, fixed)
            found += [drawn] if drawn is not None else []
    return max(found, key=lambda drawn: sum(one.is_met(drawn) for one in larger), default=None)


def _larger(pattern: Pattern, dtype: torch.dtype, sizes: Counts) -> list[Condition]:
    """That a state is larger than the one that is the largest at these sizes, of each other."""
    widths = widths_of(dtype)
    states = [Expr.of(state).subs(widths) for state in pattern.summary.peaks]
    most = max(states, key=lambda state: predict(state, sizes) or 0)
    return [Condition(state, ">", most) for state in states if state != most]
