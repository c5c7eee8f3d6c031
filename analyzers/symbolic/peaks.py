"""Chooses, among the states of live storage of a call, those that can be the largest."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from forwardbook.formula import Expr, FormulaError, dominant
from forwardbook.formula.atoms import Atom

PROVABLE = 16  # up to so many states every dominance is proved; of more, losers are dropped first
SAMPLES = 384  # assignments at which states compete: around the hints and over five orders of magnitude
_LARGE = 1 << 14
_WIDTHS = (1, 2, 3, 4, 5, 8)  # bytes of an element: below, at and above the 4 in which norms compute


def contenders(states: Sequence[Expr], hints: Mapping[str, int]) -> list[Expr]:
    """The states that may be the peak, the largest at the hints first: their maximum is the peak.

    Few states are compared as polynomials, sound for all sizes. Of many, those that are largest at none
    of SAMPLES assignments (a third around the hints, the others over all magnitudes) are dropped before.
    """
    distinct = list(dict.fromkeys(states))
    if len(distinct) > PROVABLE:
        distinct = _winners(distinct, hints)
    return list(dominant(distinct)) if len(distinct) <= 2 * PROVABLE else distinct


def _winners(states: list[Expr], hints: Mapping[str, int]) -> list[Expr]:
    names = sorted({n for s in states for n in s.symbols()})
    points = _points(names, hints)
    atoms: dict[Atom, NDArray[np.float64]] = {}
    values = np.zeros((len(states), len(points)))
    for row, state in enumerate(states):
        for monomial, coefficient in state.terms.items():
            term = np.full(len(points), float(coefficient))
            for atom, power in monomial.powers:
                if atom not in atoms:
                    atoms[atom] = _atom(Expr.atom(atom), points)
                term = term * atoms[atom] ** power
            values[row] += term
    best = np.nanmax(values, axis=0)
    near = values >= best - 1e-9 * np.abs(best)
    chosen: list[int] = []
    for column in range(len(points)):
        rows = np.flatnonzero(near[:, column])
        if rows.size and not any(r in chosen for r in rows):
            chosen.append(int(rows[0]))
    return [states[i] for i in sorted(chosen)]


def _points(names: Sequence[str], hints: Mapping[str, int]) -> list[dict[str, int]]:
    rng = random.Random(0)
    points = [{n: hints.get(n, 2) for n in names}]
    while len(points) < SAMPLES:
        if len(points) % 3:
            point = {n: int(2 ** rng.uniform(0, np.log2(_LARGE))) for n in names}
        else:
            point = {n: max(1, int(hints.get(n, 2) * 2 ** rng.uniform(-2, 2))) for n in names}
        for name in names:
            if name.endswith("_dtype_bytes"):
                point[name] = rng.choice(_WIDTHS)
        points.append(point)
    return points


def _atom(expression: Expr, points: Sequence[Mapping[str, int]]) -> NDArray[np.float64]:
    def value(point: Mapping[str, int]) -> float:
        try:
            return float(expression.evaluate(dict(point)))
        except FormulaError:
            return float("nan")

    return np.array([value(p) for p in points])
