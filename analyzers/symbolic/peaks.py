"""Chooses, among the states of live storage of a call, those that can be the largest."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from forwardbook.formula import Expr, FormulaError, dominant
from forwardbook.formula.atoms import Atom, Symbol

PROVABLE = 16  # up to so many states every dominance is proved; of more, losers are dropped first
SAMPLES = 384  # assignments at which states compete: around the hints and over five orders of magnitude
CLOSE = 0.5  # of the largest that a state is at one of them, for sizes to be looked for at which it is larger
CLIMBS = 32  # states of which that is looked for, the closest first
STEPS = 12  # sizes that are changed for it, one after another
FACTORS = (0.25, 0.5, 0.8, 1.25, 2, 4)  # times as large
_LARGE = 1 << 14
_WIDTHS = (1, 2, 3, 4, 5, 8)  # bytes of an element: below, at and above the 4 in which norms compute

Point = Mapping[str, int]


def contenders(states: Sequence[Expr], hints: Mapping[str, int]) -> list[Expr]:
    """The states that may be the peak, the largest at the hints first: their maximum is the peak.

    Few states are compared as polynomials, sound for all sizes. Of many, those that are largest at none
    of SAMPLES assignments (a third around the hints, the others over all magnitudes), nor at any found by
    changing one size after another where they come near, are dropped before.
    """
    distinct = list(dict.fromkeys(states))
    if len(distinct) > PROVABLE:
        distinct = _winners(distinct, hints)
    return list(dominant(distinct)) if len(distinct) <= 2 * PROVABLE else distinct


def _winners(states: list[Expr], hints: Mapping[str, int]) -> list[Expr]:
    names = sorted({n for s in states for n in s.symbols()})
    points = _points(names, hints)
    values = _values(states, points)
    best = np.nanmax(values, axis=0)
    near = values >= best - 1e-9 * np.abs(best)
    chosen: list[int] = []
    for column in range(len(points)):
        rows = np.flatnonzero(near[:, column])
        if rows.size and not any(r in chosen for r in rows):
            chosen.append(int(rows[0]))
    share = _shares(values, best)
    closest = share.max(axis=1)
    lost = [int(i) for i in np.argsort(-closest) if i not in chosen and closest[i] >= CLOSE]
    for row in lost[:CLIMBS]:
        if _comes_first(states[row], [states[i] for i in chosen], points[int(share[row].argmax())]):
            chosen.append(row)
    return [states[i] for i in sorted(chosen)]


def _comes_first(state: Expr, rivals: Sequence[Expr], start: Point) -> bool:
    """Whether a state is larger than all its rivals at sizes reached from `start`, one after another."""
    point, reached = dict(start), 0.0
    for _ in range(STEPS):
        beside = [
            {**point, name: max(1, int(size * factor))}
            for name, size in point.items()
            if not name.endswith("_dtype_bytes")
            for factor in FACTORS
        ]
        values = _values([state, *rivals], beside)
        shares = _shares(values[0], np.nanmax(values[1:], axis=0))
        if not shares.size or shares.max() <= reached:
            return False
        reached, point = float(shares.max()), beside[int(shares.argmax())]
        if reached > 1:
            return True
    return False


def _shares(values: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.float64]:
    """What part of the largest they are; nothing where that is none, or is not known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(values / best, nan=0.0, posinf=0.0)


def _values(states: Sequence[Expr], points: Sequence[Point]) -> NDArray[np.float64]:
    """A row for each state: what it is at each point."""
    atoms: dict[Atom, NDArray[np.float64]] = {}
    values = np.zeros((len(states), len(points)))
    for row, state in enumerate(states):
        for monomial, coefficient in state.terms.items():
            term = np.full(len(points), float(coefficient))
            for atom, power in monomial.powers:
                if atom not in atoms:
                    atoms[atom] = _atom(atom, points)
                term = term * atoms[atom] ** power
            values[row] += term
    return values


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


def _atom(atom: Atom, points: Sequence[Point]) -> NDArray[np.float64]:
    if isinstance(atom, Symbol):
        return np.array([point[atom.name] for point in points], dtype=np.float64)
    expression = Expr.atom(atom)

    def value(point: Point) -> float:
        try:
            return float(expression.evaluate(point))
        except FormulaError:
            return float("nan")

    return np.array([value(p) for p in points])
