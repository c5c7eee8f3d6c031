"""What a child process does to measure stored entries as they were: at the points of their own proofs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import torch

from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.pipeline.reprove.work import Runs, Way, worked
from forwardbook.profiling.proof import widths_of

FEW: Final = 12
"""A size of so many at most may be a count, as of layers: what lists of them do shows where more are."""


def work(request: Request) -> Response:
    """Each stored entry measured at a point of its own proof, in each format that it was proved in."""
    return worked(request, Recorded)


class Recorded(Runs):
    """Runs at sizes that proofs recorded: what gives other numbers there is of other code or another call."""

    def sizes_at(
        self, one: StoredRegime, way: Way, attempt: int, dtype: torch.dtype
    ) -> Mapping[str, int] | None:
        """Those of the proof's points, one at each attempt; what they do not name is as the model has it.

        First those that count the most beyond the model's own: layers that its lists do not have.
        """
        widths = widths_of(dtype)
        mine = [
            point.sizes
            for point in one.regime.points
            if all(point.sizes.get(name, width) == width for name, width in widths.items())
        ]
        if attempt >= len(mine):
            return None
        counts = {name: hint for name, hint in way.hints.items() if hint <= FEW}
        mine.sort(key=lambda sizes: -sum(sizes.get(name, 0) > hint for name, hint in counts.items()))
        return {name: mine[attempt].get(name, hint) for name, hint in way.hints.items()}
