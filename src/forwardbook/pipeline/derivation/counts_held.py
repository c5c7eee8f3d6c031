"""Regimes in; out those that fail because a size became a number, proved again with that size as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forwardbook.analyzers.symbolic.assume import Assumed
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation.regimes import Derived, loop_names, with_counts_said
from forwardbook.profiling.proof import prove


def with_counts_held(derived: Sequence[Derived], seed: int, points: int) -> list[Derived]:
    """The same; what is exact at the counts that ran, and says so in its conditions, in place of what failed.

    No more than half of the sizes may be held: a formula in which most never change says nothing of them.
    """
    return [_held(one, seed, points) for one in derived]


def _held(one: Derived, seed: int, points: int) -> Derived:
    numbers = {name: note.hint for name, note in one.notes.items()}
    names = [] if one.exact or one.pattern.unruled else _guilty(one, numbers)
    if not names or 2 * len(names) > len(numbers):
        return one
    held = tuple(Condition(Expr.symbol(name), "==", Expr.const(numbers[name])) for name in names)
    stated = [Condition.parse(text) for text in one.recipe.conditions]
    conditions = (*one.pattern.conditions, *held)
    pattern = Assumed([*stated, *conditions]).pattern(replace(one.pattern, conditions=conditions))
    pattern = replace(pattern, conditions=tuple(dict.fromkeys((*pattern.conditions, *held))))
    [proof] = prove(one.recipe, [pattern], numbers, one.dtype, seed, points, held)
    again = with_counts_said(replace(one, pattern=pattern, proof=proof, interpolated=()))
    return again if again.exact else one


def _guilty(one: Derived, numbers: Mapping[str, int]) -> list[str]:
    """Of the sizes that became numbers, those that had another value wherever the formulas failed.

    Where no single one had, all that had another value anywhere: now the one and now the other was to blame.
    """
    failed = [point.sizes for point in one.proof.points if point.differences]
    names = loop_names(one, numbers)
    always = [name for name in names if all(sizes.get(name) != numbers[name] for sizes in failed)]
    return always or [name for name in names if any(sizes.get(name) != numbers[name] for sizes in failed)]
