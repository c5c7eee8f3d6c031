"""Chooses, among the states of live storage of a call, those that can be the largest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from forwardbook.analyzers.symbolic.climbing import climb, sampled, shares_of, values
from forwardbook.formula import Expr, dominant

PROVABLE = 16  # up to so many states every dominance is proved; of more, losers are dropped first
CLOSE = 0.5  # of the largest that a state is at one sample, for sizes to be looked for at which it is larger
CLIMBS = 32  # states of which that is looked for, the closest first
STARTS = 4  # samples from which it is looked for, those at which the state comes nearest
_KEPT = 1 << 9  # answers that are remembered: layers of a model have the same states


def contenders(states: Sequence[Expr], hints: Mapping[str, int]) -> list[Expr]:
    """The states that may be the peak, the largest at the hints first: their maximum is the peak.

    Few states are compared as polynomials, sound for all sizes. Of many, those that are largest at none
    of SAMPLES assignments (a third around the hints, the others over all magnitudes), nor at any found by
    changing one size after another where they come near, are dropped before.
    """
    return list(_contenders(tuple(dict.fromkeys(states)), tuple(sorted(hints.items()))))


@lru_cache(maxsize=_KEPT)
def _contenders(states: tuple[Expr, ...], hints: tuple[tuple[str, int], ...]) -> tuple[Expr, ...]:
    found = _winners(states, dict(hints)) if len(states) > PROVABLE else states
    return tuple(dominant(found)) if len(found) <= 2 * PROVABLE else tuple(found)


def _winners(states: Sequence[Expr], hints: Mapping[str, int]) -> list[Expr]:
    names = sorted({n for s in states for n in s.symbols()})
    points = sampled(names, hints)
    evaluated = values(states, points)
    best = np.nanmax(evaluated, axis=0)
    near = evaluated >= best - 1e-9 * np.abs(best)
    chosen: list[int] = []
    for column in range(len(points)):
        rows = np.flatnonzero(near[:, column])
        if rows.size and not any(r in chosen for r in rows):
            chosen.append(int(rows[0]))
    share = shares_of(evaluated, best)
    closest = share.max(axis=1)
    lost = [int(i) for i in np.argsort(-closest) if i not in chosen and closest[i] >= CLOSE]
    for row in lost[:CLIMBS]:
        rivals = [states[i] for i in chosen]
        nearest = (points[int(column)] for column in np.argsort(-share[row], kind="stable")[:STARTS])
        if any(climb(states[row], rivals, start) is not None for start in nearest):
            chosen.append(row)
    return [states[i] for i in sorted(chosen)]
