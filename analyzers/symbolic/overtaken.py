"""A peak and all states of live storage in; out states that are larger at some sizes, and these."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np

from forwardbook.analyzers.symbolic.climbing import Allowed, Point, anything, climb, shares_of, values
from forwardbook.formula import Expr

CLIMBS: Final = 40  # states that are climbed for, those that come nearest to the peak first
BEYOND: Final = 1 + 1e-9  # of the peak: what is larger by less is its last binary digit


def overtaking(
    states: Sequence[Expr],
    peak: Sequence[Expr],
    starts: Sequence[Point],
    held: Collection[str] = (),
    allowed: Allowed = anything,
) -> Iterator[tuple[Expr, dict[str, int]]]:
    """States that are larger than all of `peak` somewhere, and sizes where, one for each, the surest first.

    Looked for at `starts`, which are allowed, and beside these by changing one size after another, those of
    `held` never, as long as the sizes are allowed. What nothing leads to may still be larger elsewhere.
    """
    if not starts or not states:
        return
    evaluated = values([*peak, *states], starts)
    share = shares_of(evaluated[len(peak) :], np.nanmax(evaluated[: len(peak)], axis=0))
    for row in np.argsort(-share.max(axis=1))[:CLIMBS]:
        column = int(share[row].argmax())
        state, start = states[int(row)], starts[column]
        if share[row, column] > BEYOND:
            yield state, dict(start)
        elif (found := climb(state, peak, start, frozenset(held), allowed)) is not None:
            yield state, found
