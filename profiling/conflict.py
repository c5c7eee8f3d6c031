"""Conditions and sizes known to be near in, the few conditions that cannot hold together out."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from forwardbook.analyzers.symbolic.assume import gap
from forwardbook.formula import Condition, Expr
from forwardbook.formula.bounds import is_never_negative
from forwardbook.profiling.sizes import draw

QUICK, REPAIRS = 2, 60  # attempts and repairs of a draw that only looks whether a few conditions go together


def contradiction(hints: Mapping[str, int], conditions: Sequence[Condition]) -> str:
    """Which two conditions no sizes satisfy, "" where that is not proved; it never is where the hints do."""
    for broken in (c for c in conditions if not c.is_met(hints)):
        for other in (broken, *conditions):
            if any(_never(mine, theirs) for mine in _gaps(broken) for theirs in _gaps(other)):
                both = dict.fromkeys((broken.text(), other.text()))
                return f"no sizes satisfy {' and '.join(both)}"
    return ""


def unsatisfied(hints: Mapping[str, int], conditions: Sequence[Condition], rng: random.Random) -> str:
    """Conditions for which no sizes were found together, as few as can be; "" where the hints satisfy all."""
    if all(c.is_met(hints) for c in conditions):
        return ""
    core = list(conditions)
    for condition in conditions:
        rest = [c for c in core if c is not condition]
        if rest and draw(hints, rest, rng, attempts=QUICK, repairs=REPAIRS) is None:
            core = rest
    return f"no sizes were found that satisfy {' and '.join(c.text() for c in core)}"


def _gaps(condition: Condition) -> Iterator[Expr]:
    """What the condition says is at least 0."""
    if condition.op == "==":
        yield condition.left - condition.right
        yield condition.right - condition.left
    elif (inequality := gap(condition)) is not None:
        yield inequality


def _never(mine: Expr, theirs: Expr) -> bool:
    """Whether two values cannot both be at least 0: their sum is negative whatever the sizes, 0 included."""
    return is_never_negative(-(mine + theirs) - 1)
