"""What a child process does to narrow stored entries: find what of each other's conditions they need.

A regime may have been proved only where the conditions of all that its model calls held. Its model is run at
sizes that fit its own conditions and break others': where it fails, one of these is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import torch

from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Condition
from forwardbook.pipeline.child.overtime import Clock
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.derivation.alone import Alone, Search
from forwardbook.pipeline.derivation.free_sizes import FreeSizes
from forwardbook.pipeline.reprove.held import Again
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime, met_in_proof
from forwardbook.pipeline.reprove.work import Call, Runs, worked
from forwardbook.profiling.proof import measure, widths_of

DRAWS: Final = 140  # for all regimes of one way
REFUSED: Final = 60


def work(request: Request) -> Response:
    """What each regime of the stored entries needs; all of them belong to one family."""
    return worked(request, Narrowing)


class Narrowing(Runs):
    """Runs at sizes that break what others of the family say."""

    def __init__(self, request: Request, clock: Clock) -> None:
        super().__init__(request, clock)
        self.said: dict[str, Condition] = {}

    def through(self, entries: Sequence[Again]) -> None:
        """Every way to call the entries, with all their conditions known."""
        regimes = (one for entry in entries for one in entry.regimes)
        self.said = {c.text(): c for one in regimes for c in one.conditions}
        super().through(entries)

    def measured_in(self, dtype: torch.dtype, same: Sequence[Call]) -> None:
        """What all regimes of one way need in one number format; none that was met in another."""
        widths = widths_of(dtype)
        calls = [call for call in same if call[1].holds_for(widths) and call[0].is_open(call[1])]
        if not calls:
            return
        way = calls[0][2]
        universe = [c for c in self.said.values() if c.symbols() <= way.hints.keys()]
        alone = [_alone(one, universe) for _, one, _ in calls]
        for (entry, one, _), each in zip(calls, alone, strict=True):
            entry.needed[one.regime.name] = each.more
        search = Search(alone, FreeSizes(way.hints, way.asked.stated, self.rng), DRAWS, REFUSED)
        for sizes, trace in search.runs(lambda sizes: measure(way.recipe, sizes, dtype, widths)):
            for call, each in zip(calls, alone, strict=True):
                _judge(call, each, trace, {**sizes, **widths})
        for (entry, one, _), each in zip(calls, alone, strict=True):
            entry.met[one.regime.name].needs = tuple(c.text() for c in each.needed())


def _alone(one: StoredRegime, universe: Iterable[Condition]) -> Alone:
    """A regime, and what others say that held wherever it was proved."""
    mine = {c.text() for c in one.conditions}
    others = (c for c in universe if c.text() not in mine)
    return Alone(one.conditions, [c for c in others if met_in_proof(c, one.regime)])


def _judge(call: Call, alone: Alone, trace: Trace, values: Mapping[str, int]) -> None:
    """A regime held against a run that is the first, or breaks something for the first time."""
    entry, one, way = call
    if not entry.holds(one, values) or one.guessed(trace.assumed):
        return
    broken = alone.broken(values)
    if alone.knows(broken) and entry.met[one.regime.name].points:
        return
    told = entry.told(one, trace, way.recipe.calls_as, values)
    if told.equal and not told.is_wrong:
        entry.confirm(one, values)
        alone.has_held(broken, values)
    elif told.unexplained and not told.equal and broken:
        alone.fails(values, broken)
    elif told.unexplained:
        entry.refute(one, told.unexplained, values, explains=told.equal)
