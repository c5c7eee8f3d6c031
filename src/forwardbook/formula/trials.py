"""Values at fixed assignments: what is false at one of them has no proof, and none need be looked for."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import parts_of
from forwardbook.formula.expr import Expr
from forwardbook.formula.work import remembered, spend

Values: TypeAlias = Sequence[int | None]

_EQUAL = (1, 2, 1000)  # all sizes alike
_DRAWN = 24  # assignments in which each size has a magnitude of its own
_LARGEST = 20  # the binary logarithm of the largest


@remembered(1 << 14)
def tried(value: Expr) -> Values:
    """The value at each assignment, all of whose sizes are at least 1; None where a division is not exact."""
    sizes = {name: _sizes(name) for name in value.symbols()}
    places = range(len(_EQUAL) + _DRAWN)
    spend(len(places) * _size(value))
    return tuple(value_at(value, {name: each[place] for name, each in sizes.items()}) for place in places)


def _size(value: Expr) -> int:
    """The factors of its terms, and of those of each atom within, once."""
    found, waiting, seen = 0, [value], {value}
    while waiting:
        one = waiting.pop()
        found += sum(1 + monomial.degree for monomial in one.terms)
        for atom in one.atoms():
            inner = [part for part in parts_of(atom) if part not in seen]
            seen.update(inner)
            waiting += inner
    return found


def value_at(value: Expr, point: Mapping[str, int]) -> int | None:
    """The value, or None where a division is not exact or by zero."""
    try:
        return value.evaluate(point)
    except FormulaError:
        return None


def may_reach(left: Values, right: Values, more: int = 0) -> bool:
    """Whether left >= right + more at every assignment at which both have a value."""
    return all(a is None or b is None or a >= b + more for a, b in zip(left, right, strict=True))


@lru_cache(maxsize=1 << 12)
def _sizes(name: str) -> Sequence[int]:
    """What a size is in each assignment, whatever others there are."""
    rng = random.Random(name)
    return (*_EQUAL, *(int(2 ** rng.uniform(0, rng.uniform(0, _LARGEST))) for _ in range(_DRAWN)))
