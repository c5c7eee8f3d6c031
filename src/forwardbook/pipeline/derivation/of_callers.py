"""Tests that a call itself never asked, and what came of each; out those that its formula hangs on.

What a caller compares, or makes a number of, decides with what shapes it calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forwardbook.formula import Condition
from forwardbook.profiling.proof import Point

Outcome = tuple[dict[str, int], list[Point | None]]
"""Sizes that break a condition, and every pattern held against a run there, or at others that break it."""


def of_callers(
    index: int, kept: Sequence[Condition], outcomes: Mapping[str, Outcome | None]
) -> list[Condition]:
    """The tests of which pattern `index` failed where only such a one was broken, by their texts."""
    found: list[Condition] = []
    for text, outcome in outcomes.items():
        point = outcome[1][index] if outcome is not None else None
        if point is None or not point.differences:
            continue
        if all(condition.is_met(point.sizes) for condition in (*kept, *found)):
            found.append(Condition.parse(text))
    return found


def each_of_callers(
    index: int, kept: Sequence[Condition], outcomes: Mapping[str, Outcome | None]
) -> list[Condition]:
    """The same, of each whatever others of them were broken beside it.

    What keeps a number is not dropped for the sake of another that failed at the same sizes: which of the two
    is to blame no run told.
    """
    each = (of_callers(index, kept, {text: outcome}) for text, outcome in outcomes.items())
    return [condition for found in each for condition in found]
