"""Sizes known to be near and conditions in; whether it is proved that no sizes satisfy all of them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from forwardbook.analyzers.symbolic.assume import gap
from forwardbook.analyzers.symbolic.divisible import as_multiple, divisibility
from forwardbook.formula import Condition, Expr, FormulaError
from forwardbook.formula.bounds import is_never_negative

MOST = 40  # conditions that are looked at, and terms of one of them: beyond, a search is as quick


def is_impossible(
    hints: Mapping[str, int], conditions: Sequence[Condition], fixed: Mapping[str, int] | None = None
) -> bool:
    """Whether one of the conditions, or two, hold at no sizes: those of `fixed`, and others of at least 1.

    A size with a hint below 1 may be 0. False says nothing; it is the answer where the hints do.
    """
    near = {**hints, **(fixed or {})}
    if len(conditions) > MOST or all(condition.is_met(near) for condition in conditions):
        return False
    zeros = frozenset(name for name, hint in near.items() if hint < 1)
    held = tuple(sorted((fixed or {}).items()))
    return _excluded(tuple(dict.fromkeys(conditions)), held, zeros, tuple(sorted(near.items())))


@lru_cache(maxsize=1 << 12)
def _excluded(
    conditions: tuple[Condition, ...],
    held: tuple[tuple[str, int], ...],
    zeros: frozenset[str],
    near: tuple[tuple[str, int], ...],
) -> bool:
    small = [c for c in conditions if len(c.left.terms) + len(c.right.terms) <= MOST]
    broken = {place for place, condition in enumerate(small) if not condition.is_met(dict(near))}
    try:
        known = [c.subs(dict(held)) for c in small]
        said = [_gaps(one) for one in _raised(_divided(known, zeros), zeros)]
    except FormulaError:
        return False
    # two that exclude each other do not both hold near there
    every = [theirs for one in said for theirs in one]
    return any(exclude(mine, theirs) for place in broken for mine in said[place] for theirs in every)


def gaps(condition: Condition) -> tuple[Expr, ...]:
    """What an equation or inequality says is at least 0; nothing of the others."""
    if condition.op == "==":
        difference = condition.left - condition.right
        return difference, -difference
    inequality = gap(condition)
    return () if inequality is None else (inequality,)


def exclude(mine: Expr, theirs: Expr) -> bool:
    """Whether two values cannot both be at least 0: their sum is negative whatever the sizes, 0 included."""
    return is_never_negative(-(mine + theirs) - 1)


def _gaps(condition: Condition) -> tuple[Expr, ...]:
    """The same, and -1 for a value that is said to differ from itself."""
    never = condition.op == "!=" and condition.left == condition.right
    return (Expr.const(-1),) if never else gaps(condition)


def _divided(conditions: list[Condition], zeros: frozenset[str]) -> list[Condition]:
    """The conditions with every multiple written as divisor times quotient, so that roundings cancel."""
    for name, divisor, known in divisibility(conditions):
        if name not in zeros:  # else the quotient may be 0 as well
            conditions = [c if c is known else c.subs(as_multiple(name, divisor)) for c in conditions]
    return conditions


def _raised(conditions: list[Condition], zeros: frozenset[str]) -> list[Condition]:
    """The conditions in what each size has above 1, which is 0 or more."""
    names = frozenset[str]().union(*(c.symbols() for c in conditions)) - zeros
    moved: dict[str, int | Expr] = {name: Expr.symbol(name) + 1 for name in sorted(names)}
    return [c.subs(moved) for c in conditions]
