"""A size at which a formula holds and one at which it does not in; out the condition that keeps its side.

What a constructor compares with the number of a layer decides of which kind that layer is. No formula names
such a size, and a class within says nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable

from forwardbook.formula import Condition, Expr


def bound(name: str, good: int, bad: int, fits: Callable[[int], bool]) -> Condition:
    """`{name} >= k` or `{name} <= k`: the last size on the way from `good` to `bad` that fits."""
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        if fits(middle):
            good = middle
        else:
            bad = middle
    return Condition(Expr.symbol(name), "<=" if good < bad else ">=", Expr.const(good))
