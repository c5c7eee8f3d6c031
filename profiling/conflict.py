"""Conditions and sizes known to be near in, the few conditions that cannot hold together out."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from forwardbook.formula import Condition
from forwardbook.profiling.impossible import exclude, gaps
from forwardbook.profiling.sizes import draw

QUICK, REPAIRS = 2, 60  # attempts and repairs of a draw that only looks whether a few conditions go together


def contradiction(hints: Mapping[str, int], conditions: Sequence[Condition]) -> str:
    """Which two conditions no sizes satisfy, "" where that is not proved; it never is where the hints do."""
    for broken in (c for c in conditions if not c.is_met(hints)):
        for other in (broken, *conditions):
            if any(exclude(mine, theirs) for mine in gaps(broken) for theirs in gaps(other)):
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
