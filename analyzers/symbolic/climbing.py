"""States of live storage in, and sizes; out sizes at which one of them is larger than all of its rivals."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from forwardbook.formula import Expr
from forwardbook.formula.atoms import Atom, Monomial, Symbol
from forwardbook.formula.terms import Coefficient
from forwardbook.formula.vector import Points

SAMPLES = 384  # assignments at which states compete: around the hints and over five orders of magnitude
STEPS = 12  # sizes that are changed, one after another
FACTORS = (0.25, 0.5, 0.8, 1.25, 2, 4)  # times as large
_LARGE = 1 << 14
_WIDTHS = (1, 2, 3, 4, 5, 8)  # bytes of an element: below, at and above the 4 in which norms compute

Point = Mapping[str, int]
Allowed = Callable[[Point, str], bool]
"""Whether sizes are allowed that were before one of them was changed, the one of this name."""


def anything(point: Point, changed: str) -> bool:
    """Sizes are whatever they are."""
    return True


def climb(
    state: Expr,
    rivals: Sequence[Expr],
    start: Point,
    held: frozenset[str] = frozenset(),
    allowed: Allowed = anything,
) -> dict[str, int] | None:
    """Sizes at which a state is larger than all its rivals, reached from `start` by one after another.

    Widths of numbers and the sizes of `held` stay, and every step is one that is allowed. None where no
    step brings the state nearer before it is the largest.
    """
    point, reached = dict(start), 0.0
    named = state.symbols().union(*(rival.symbols() for rival in rivals)) - held
    moving = [name for name in point if name in named and not name.endswith("_dtype_bytes")]
    for _ in range(STEPS):
        steps = [(n, {**point, n: max(1, int(point[n] * factor))}) for n in moving for factor in FACTORS]
        if not steps:
            return None
        evaluated = values([state, *rivals], [one for _, one in steps])
        shares = shares_of(evaluated[0], np.nanmax(evaluated[1:], axis=0))
        nearer = (int(i) for i in np.argsort(-shares, kind="stable") if shares[i] > reached)
        taken = next((i for i in nearer if allowed(steps[i][1], steps[i][0])), None)
        if taken is None:
            return None
        reached, point = float(shares[taken]), steps[taken][1]
        if reached > 1:
            return point
    return None


def shares_of(evaluated: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.float64]:
    """What part of the largest they are; nothing where that is none, or is not known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(evaluated / best, nan=0.0, posinf=0.0)


def values(states: Sequence[Expr], points: Sequence[Point]) -> NDArray[np.float64]:
    """A row for each state: what it is at each point, not a number where it has no value."""
    names = frozenset[str]().union(*(state.symbols() for state in states))
    sizes = {name: np.array([point[name] for point in points]) for name in names}
    at = Points(sizes)
    terms: dict[tuple[Monomial, Coefficient], NDArray[np.float64]] = {}
    atoms: dict[Atom, NDArray[np.float64]] = {}
    found = np.zeros((len(states), len(points)))
    for row, state in zip(found, states, strict=True):
        for one in state.terms.items():
            if one not in terms:
                monomial, coefficient = one
                terms[one] = np.full(len(points), float(coefficient))
                for atom, power in monomial.powers:
                    if atom not in atoms:
                        atoms[atom] = _floats(atom, sizes, at)
                    terms[one] *= atoms[atom] if power == 1 else atoms[atom] ** power
            row += terms[one]
    return found


def _floats(atom: Atom, sizes: Mapping[str, NDArray[np.int64]], at: Points) -> NDArray[np.float64]:
    """What an atom is at each point; not a number where it has no value."""
    if isinstance(atom, Symbol):
        return sizes[atom.name].astype(np.float64)
    numbers, fails = at.of(Expr.atom(atom))
    return np.where(fails, np.nan, numbers.astype(np.float64))


def sampled(names: Sequence[str], hints: Mapping[str, int]) -> list[dict[str, int]]:
    """SAMPLES assignments, the hints first, always the same ones."""
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
