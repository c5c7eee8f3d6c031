"""States over counts of layers in; out those that no count makes smaller: what shrinks lives in no model.

Through three runs there may be a line of three states that have nothing to do with each other: two rows of a
width and one of another, one of each, none and two. It holds in these runs, and with twelve layers it is of
fewer than no rows of one width. What lives at the same time as so many layers becomes more of every kind.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from forwardbook.analyzers.symbolic.climbing import Together
from forwardbook.formula import Expr
from forwardbook.formula.atoms import Extreme, Floor, Symbol

POINTS: Final = 128  # assignments at which a state is held against the same of more layers
MANY: Final = (1 << 10, 1 << 20)  # layers: both more than any run has, so that the highest power decides
_ANY: Final = (16, 1 << 14)  # a size: above what convolutions take off, over three orders of magnitude
_WIDE: Final = (1 << 11, 1 << 14)  # one that is rounded: an image is larger than what goes over it
_FEW: Final = (1, 3)  # what it is divided by, or what is taken off before it is
_LEAST: Final = 1e-9  # of a state: what it shrinks by less is its last binary digit


def growing(states: Sequence[Expr], counts: Iterable[str]) -> list[Expr]:
    """Those of the states that are no smaller with more of each count, wherever they have a value."""
    names = sorted({*counts} & frozenset[str]().union(*(state.symbols() for state in states)))
    if not names:
        return list(states)
    together, points = Together(states), _points(states)
    sizes = {name: np.array([point[name] for point in points]) for name in together.names}
    shrinks = np.zeros(len(states), dtype=bool)
    for name in names:
        first, last = ({**sizes, name: np.full(POINTS, count)} for count in MANY)
        few, many = together.at(first, POINTS), together.at(last, POINTS, name)
        with np.errstate(invalid="ignore"):  # a comparison with what has no value is false
            shrinks |= (many < few - _LEAST * np.abs(few)).any(axis=1)
    return [state for state, smaller in zip(states, shrinks, strict=True) if not smaller]


def _points(states: Iterable[Expr]) -> list[dict[str, int]]:
    """Assignments, always the same ones, at which roundings are far from their borders."""
    names, roles = set[str](), _Roles(set(), set(), set())
    for state in states:
        names |= state.symbols()
        _assign(state, roles)
    rng = random.Random(0)
    return [{name: roles.drawn(name, rng) for name in sorted(names)} for _ in range(POINTS)]


@dataclass(frozen=True)
class _Roles:
    """Sizes that divide others, that are rounded, and that are taken off before; one may be of each kind."""

    divisors: set[str]
    rounded: set[str]
    less: set[str]

    def drawn(self, name: str, rng: random.Random) -> int:
        """A size of its kind, on a scale of magnitudes."""
        is_small = name in self.divisors or name in self.less - self.rounded
        low, high = _FEW if is_small else _WIDE if name in self.rounded else _ANY
        return int(2 ** rng.uniform(math.log2(low), math.log2(high)))


def _assign(value: Expr, roles: _Roles, sign: int = 1) -> None:
    """Which kinds the sizes are of in what is added; or taken away, where the sign is negative."""
    for monomial, coefficient in value.terms.items():
        effect = sign if coefficient > 0 else -sign
        for atom, _ in monomial.powers:
            if isinstance(atom, Extreme):
                for argument in atom.arguments:
                    _assign(argument, roles, effect)
            elif isinstance(atom, Floor):
                roles.divisors.update(atom.denominator.symbols())
                for one, part in atom.numerator.terms.items():
                    symbols = (each.name for each, _ in one.powers if isinstance(each, Symbol))
                    (roles.rounded if part * effect > 0 else roles.less).update(symbols)
                _assign(atom.numerator, roles, effect)
                _assign(atom.denominator, roles)
