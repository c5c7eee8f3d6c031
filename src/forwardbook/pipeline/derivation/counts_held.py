"""Regimes in; out those that fail because a size became a number, proved again with that size as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forwardbook.analyzers.symbolic.assume import Assumed
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation.regimes import Derived, loop_names, with_counts_said
from forwardbook.profiling.proof import prove

SINGLE = 4  # of so many suspects each is tried alone: what is held for nothing says less than is known


def with_counts_held(derived: Sequence[Derived], seed: int, points: int) -> list[Derived]:
    """The same; what is exact at the counts that ran, and says so in its conditions, in place of what failed.

    No more than half of the sizes may be held: a formula in which most never change says nothing of them.
    """
    return [_held(one, seed, points) for one in derived]


def _held(one: Derived, seed: int, points: int) -> Derived:
    numbers = {name: note.hint for name, note in one.notes.items()}
    if one.exact or one.pattern.unruled:
        return one
    for names in _guilty(one, numbers):
        if 2 * len(names) <= len(numbers):
            again = _with_held(one, names, numbers, seed, points)
            if again.exact:
                return _with_fewer(again, one, names, numbers, seed, points)
    return one


def _with_fewer(
    found: Derived, one: Derived, names: tuple[str, ...], numbers: Mapping[str, int], seed: int, points: int
) -> Derived:
    """The same, with only those of a few names held without which formulas fail."""
    for name in names if len(names) <= SINGLE else ():
        fewer = tuple(other for other in names if other != name)
        again = _with_held(one, fewer, numbers, seed, points) if fewer else one
        if again.exact:
            found, names = again, fewer
    return found


def _with_held(
    one: Derived, names: Sequence[str], numbers: Mapping[str, int], seed: int, points: int
) -> Derived:
    held = tuple(Condition(Expr.symbol(name), "==", Expr.const(numbers[name])) for name in names)
    stated = [Condition.parse(text) for text in one.recipe.conditions]
    conditions = (*one.pattern.conditions, *held)
    pattern = Assumed([*stated, *conditions]).pattern(replace(one.pattern, conditions=conditions))
    pattern = replace(pattern, conditions=tuple(dict.fromkeys((*pattern.conditions, *held))))
    [proof] = prove(one.recipe, [pattern], numbers, one.dtype, seed, points, held)
    return with_counts_said(replace(one, pattern=pattern, proof=proof, interpolated=()))


def _guilty(one: Derived, numbers: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Of the sizes that became numbers, those that had another value wherever the formulas failed.

    A single one may be to blame, or several; or all that had another value anywhere, now the one and now the
    other.
    """
    failed = [point.sizes for point in one.proof.points if point.differences]
    names = loop_names(one, numbers)
    always = tuple(name for name in names if all(sizes.get(name) != numbers[name] for sizes in failed))
    ever = tuple(name for name in names if any(sizes.get(name) != numbers[name] for sizes in failed))
    alone = [(name,) for name in always] if len(always) <= SINGLE else []
    return [names for names in dict.fromkeys((*alone, always, ever)) if names]
