"""A regime and a condition that it is found to need in; points that meet it, each measured and equal, out."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import torch

from forwardbook.formula import Condition
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.pipeline.reprove.work import DTYPES, Call
from forwardbook.profiling.proof import POINTS, measure, predict, some_kept, widths_of
from forwardbook.profiling.sizes import draw
from forwardbook.schema import ProofPoint

TRIES: Final = 24
ATTEMPTS: Final = 12  # to draw sizes


class Refuted(Exception):
    """At sizes that meet the condition a regime gives other numbers than are measured."""


def points_within(call: Call, needed: Sequence[Condition], rng: random.Random) -> tuple[ProofPoint, ...]:
    """As many points as a proof has, in each number format of a regime; none where one of them differs."""
    found: list[ProofPoint] = []
    for dtype in DTYPES:
        if call[1].holds_for(widths_of(dtype)):
            try:
                found += islice(_points(call, needed, rng, dtype), POINTS)
            except Refuted:
                return ()
    return tuple(found)


def _points(
    call: Call, needed: Sequence[Condition], rng: random.Random, dtype: torch.dtype
) -> Iterator[ProofPoint]:
    """Points at drawn sizes, the names of sizes as in the proof that there is.

    Raises:
        Refuted: a run has a call as nothing says it is.
    """
    entry, one, way = call
    widths = widths_of(dtype)
    before = one.regime.points
    names = {name for point in before for name in point.sizes}
    asked = [c for c in (*way.asked.stated, *one.conditions, *needed) if c.symbols() <= way.hints.keys()]
    for attempt in range(TRIES):
        sizes = draw(way.hints, asked, rng, some_kept(way.hints, rng, attempt), attempts=ATTEMPTS)
        if sizes is None:
            continue
        values = {**sizes, **widths}
        if not entry.holds(one, values):
            continue  # a total has no value there, say
        try:
            trace = measure(way.recipe, sizes, dtype, widths)
        except Exception:  # noqa: BLE001, S112 - the module's own refusal of these sizes
            continue
        told = entry.told(one, trace, way.recipe.calls_as, values)
        if told.is_wrong:
            raise Refuted
        if told.equal and not one.guessed(trace.assumed):
            yield point_at(one, values, names)


def point_at(one: StoredRegime, values: Mapping[str, int], names: Collection[str]) -> ProofPoint:
    """A point at which a regime gave every number that was measured, with the sizes of these names."""
    totals = {name: predict(formula, values) for name, formula in one.formulas.items()}
    given = {name: value for name, value in totals.items() if value is not None}
    kept = {name: value for name, value in values.items() if name in names}
    return ProofPoint(sizes=kept, predicted=given, measured=given)
