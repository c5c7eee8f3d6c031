"""States of live storage in, and sizes; out sizes at which one of them is larger than all of its rivals."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence

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
_WIDTH = "_dtype_bytes"  # how the name of one ends that is the bytes of an element
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
    together = Together([state, *rivals])
    named = together.names - held
    moving = [name for name in point if name in named and not name.endswith(_WIDTH)]
    changed: str | None = None
    for _ in range(STEPS if moving else 0):
        sizes = _steps(point, together.names, moving)
        evaluated = together.at(sizes, len(moving) * len(FACTORS), changed)
        shares = shares_of(evaluated[0], np.nanmax(evaluated[1:], axis=0))
        taken = _nearest(point, sizes, moving, shares, reached, allowed)
        if taken is None:
            return None
        reached, changed, point = taken
        if reached > 1:
            return point
    return None


def _nearest(
    point: Point,
    sizes: Mapping[str, NDArray[np.int64]],
    moving: Sequence[str],
    shares: NDArray[np.float64],
    reached: float,
    allowed: Allowed,
) -> tuple[float, str, dict[str, int]] | None:
    """The allowed step that brings nearest, beyond what is `reached`: how near, which size, and all sizes."""
    for place in np.argsort(-shares, kind="stable"):
        if shares[place] <= reached:
            break
        name = moving[place // len(FACTORS)]
        step = {**point, name: int(sizes[name][place])}
        if allowed(step, name):
            return float(shares[place]), name, step
    return None


def _steps(point: Point, names: Iterable[str], moving: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Each size that moves by each of FACTORS, all others as they are: a row for each of `names`."""
    count = len(moving) * len(FACTORS)
    sizes = {name: np.full(count, point[name], dtype=np.int64) for name in names}
    for place, name in enumerate(moving):
        first = place * len(FACTORS)
        sizes[name][first : first + len(FACTORS)] = [max(1, int(point[name] * factor)) for factor in FACTORS]
    return sizes


def shares_of(evaluated: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.float64]:
    """What part of the largest they are; nothing where that is none, or is not known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(evaluated / best, nan=0.0, posinf=0.0)


def values(states: Sequence[Expr], points: Sequence[Point]) -> NDArray[np.float64]:
    """A row for each state: what it is at each point, not a number where it has no value."""
    together = Together(states)
    sizes = {name: np.array([point[name] for point in points]) for name in together.names}
    return together.at(sizes, len(points))


class Together:
    """States that are asked for at the same sizes: what they share is computed once, and what stays, kept."""

    def __init__(self, states: Sequence[Expr]) -> None:
        self.names = frozenset[str]().union(*(state.symbols() for state in states))
        terms: dict[tuple[Monomial, Coefficient], int] = {}
        self._rows = [[terms.setdefault(one, len(terms)) for one in state.terms.items()] for state in states]
        self._terms = tuple(terms)
        atoms = dict.fromkeys(atom for monomial, _ in terms for atom, _ in monomial.powers)
        self._names = {atom: Expr.atom(atom).symbols() for atom in atoms}
        self._atoms: dict[Atom, NDArray[np.float64]] = {}
        self._known = np.empty((0, 0))

    def at(
        self, sizes: Mapping[str, NDArray[np.int64]], count: int, changed: str | None = None
    ) -> NDArray[np.float64]:
        """A row for each state, as long as the `count` of every size: not a number where it has no value.

        Where the sizes of a single name are others than the last time, `changed` says of which.
        """
        if changed is None:
            self._known = np.empty((len(self._terms), count))
        others = {atom for atom, names in self._names.items() if changed is None or changed in names}
        points = Points(sizes)
        self._atoms.update({atom: _floats(atom, sizes, points) for atom in others})
        for row, (monomial, coefficient) in zip(self._known, self._terms, strict=True):
            if changed is not None and others.isdisjoint(atom for atom, _ in monomial.powers):
                continue
            row.fill(float(coefficient))
            for atom, power in monomial.powers:
                row *= self._atoms[atom] if power == 1 else self._atoms[atom] ** power
        return np.array([self._known[places].sum(axis=0) for places in self._rows])


def _floats(atom: Atom, sizes: Mapping[str, NDArray[np.int64]], at: Points) -> NDArray[np.float64]:
    """What an atom is at each point; not a number where it has no value."""
    if isinstance(atom, Symbol):
        return sizes[atom.name].astype(np.float64)
    numbers, fails = at.of(Expr.atom(atom))
    return np.where(fails, np.nan, numbers.astype(np.float64))


def sampled(names: Sequence[str], hints: Mapping[str, int]) -> list[dict[str, int]]:
    """SAMPLES assignments, the hints first, and some where one size dwarfs all others: always the same."""
    rng = random.Random(0)
    points = [{n: hints.get(n, 2) for n in names}]
    while len(points) < SAMPLES:
        if len(points) % 3:
            point = {n: int(2 ** rng.uniform(0, np.log2(_LARGE))) for n in names}
        else:
            point = {n: max(1, int(hints.get(n, 2) * 2 ** rng.uniform(-2, 2))) for n in names}
        for name in names:
            if name.endswith(_WIDTH):
                point[name] = rng.choice(_WIDTHS)
        points.append(point)
    # millions of labels, one row of a batch: where a dozen sizes are drawn at once that seldom comes
    return [*points, *({**dict.fromkeys(names, 2), n: _LARGE} for n in names if not n.endswith(_WIDTH))]
