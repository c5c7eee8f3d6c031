"""What a child process does to shake stored entries: change sizes one by one, take few layers and many.

Sizes that are drawn all at once are rarely those at which a single one decides: one side of an image alone,
a batch of one more, a single head, a stack of a single layer.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

import torch

from forwardbook.analyzers.instances.pretrained.depth import counts_layers
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.reprove.beside import Beside, beside
from forwardbook.pipeline.reprove.bounds import bound
from forwardbook.pipeline.reprove.held import Told
from forwardbook.pipeline.reprove.proved import points_within
from forwardbook.pipeline.reprove.stored_regimes import is_left_by_proof
from forwardbook.pipeline.reprove.work import DTYPES, Call, Runs, worked
from forwardbook.profiling.proof import measure, widths_of
from forwardbook.profiling.raised import first_line_kept

NEXT: Final = (1, 2, 3, 5, 7)
"""How much more a size is than one that fails, where the module does not take what its way has."""


def work(request: Request) -> Response:
    """Each stored entry held against runs beside the model's own sizes."""
    return worked(request, Each)


class Each(Runs):
    """Runs near the sizes that a model has."""

    def measured_in(self, dtype: torch.dtype, same: Sequence[Call]) -> None:
        """All regimes of one way; those that hold in two number formats in the first alone."""
        widths = widths_of(dtype)
        first = widths_of(DTYPES[0])
        calls = [
            call
            for call in same
            if call[1].holds_for(widths) and (dtype is DTYPES[0] or not call[1].holds_for(first))
        ]
        if not calls:
            return
        for near in beside(calls[0][2], [one for _, one, _ in calls], self.rng):
            values = {**near.sizes, **widths}
            asked = [call for call in calls if call[0].holds(call[1], values) and not _is_wrong(call)]
            if not asked:
                continue
            try:
                trace = measure(asked[0][2].recipe, near.sizes, dtype, widths)
            except Exception as error:  # noqa: BLE001 - the module's own refusal of these sizes
                for entry, one, _ in asked:
                    entry.note(one, first_line_kept(error))
                continue
            for call in asked:
                entry, one, way = call
                if not one.guessed(trace.assumed):
                    told = entry.told(one, trace, way.recipe.calls_as, values)
                    _judge(call, told, near, dtype, self.rng)


def _is_wrong(call: Call) -> bool:
    entry, one, _ = call
    return bool(entry.met[one.regime.name].differences)


def _judge(call: Call, told: Told, near: Beside, dtype: torch.dtype, rng: random.Random) -> None:
    """What a run tells of a regime; one that a single size makes wrong is given a bound of that size."""
    entry, one, way = call
    values = {**near.sizes, **widths_of(dtype)}
    if told.unexplained and not told.equal and _is_spoken_of_nowhere(call, values, dtype):
        entry.note(one, "what no regime gives with few layers none gives with all")
    elif not told.is_wrong:
        entry.judge(one, told, values)
    else:
        right = _changed_less(call, near, dtype) if near.changed else _more_layers(call, near, dtype)
        if right is None and near.is_deep:
            entry.note(one, "more layers call it as no regime says: `reprove --deep` tells of which it is")
        elif right is None or not _is_bounded(call, near.sizes, *right, dtype, rng):
            entry.judge(one, told, values)


def _changed_less(call: Call, near: Beside, dtype: torch.dtype) -> tuple[str, int] | None:
    """The size that was changed, and the first that the module takes of those that may be right.

    Five heads share one head of keys or have five: where it takes none beside 1, all others may be right.
    """
    entry, one, way = call
    name = near.changed
    first = (near.sizes[name] + more for more in NEXT)
    for size in dict.fromkeys((way.hints[name], *first)):
        sizes = {**near.sizes, name: size}
        if size == near.sizes[name] or not way.asked.takes(sizes):
            continue
        if not entry.holds(one, {**sizes, **widths_of(dtype)}):
            return name, size  # nothing is said there
        told = _told(call, sizes, dtype)
        if told is not None:
            return None if told.is_wrong else (name, size)
    return (name, 2) if near.sizes[name] == 1 else None


def _more_layers(call: Call, near: Beside, dtype: torch.dtype) -> tuple[str, int] | None:
    """A count of layers, and one more of them at which a regime is right, where as many as there are fail."""
    _, _, way = call
    for name in filter(counts_layers, way.hints):
        more = max(way.hints[name], near.sizes[name] + 1)
        sizes = {**near.sizes, name: more}
        told = _told(call, sizes, dtype) if _holds(call, sizes, dtype) else None
        if told is not None and not told.is_wrong:
            return name, more
    return None


def _holds(call: Call, sizes: Mapping[str, int], dtype: torch.dtype) -> bool:
    """Whether a regime says that it holds at sizes that its way takes."""
    entry, one, way = call
    return entry.holds(one, {**sizes, **widths_of(dtype)}) and way.asked.takes(sizes)


def _is_right(call: Call, sizes: Mapping[str, int], dtype: torch.dtype) -> bool:
    """Whether it is not wrong there: nothing is where it does not hold, or the module refuses the sizes."""
    told = _told(call, sizes, dtype) if _holds(call, sizes, dtype) else None
    return told is None or not told.is_wrong


def _is_bounded(
    call: Call, sizes: Mapping[str, int], name: str, good: int, dtype: torch.dtype, rng: random.Random
) -> bool:
    """Whether a bound of one size keeps a regime right, and leaves enough of its proof or is proved anew."""
    entry, one, _ = call
    needed = bound(name, good, sizes[name], lambda size: _is_right(call, {**sizes, name: size}, dtype))
    every = (*entry.needed.get(one.regime.name, ()), needed)
    met = entry.met[one.regime.name]
    there = {**sizes, name: good}
    is_refused = _holds(call, there, dtype) and _told(call, there, dtype) is None
    if is_refused or not is_left_by_proof(needed, one.regime, met.proved):
        more = points_within(call, every, rng)
        if not more or not is_left_by_proof(needed, one.regime, more):
            return False
        met.proved = more
    entry.needed[one.regime.name] = every
    met.needs = (*met.needs, needed.text())
    return True


def _is_spoken_of_nowhere(call: Call, values: Mapping[str, int], dtype: torch.dtype) -> bool:
    """Whether with all layers it gives a call at these sizes, beside a call such as no regime gives.

    Then these are sizes of which no regime speaks, however many layers there are.
    """
    entry, one, way = call
    layers = {name: hint for name, hint in way.hints.items() if counts_layers(name)}
    deeper = {**values, **layers}
    if deeper == values or not entry.holds(one, deeper):
        return False
    told = _told(call, {name: deeper[name] for name in way.hints}, dtype)
    return told is not None and told.equal and bool(told.unexplained)


def _told(call: Call, sizes: Mapping[str, int], dtype: torch.dtype) -> Told | None:
    """What a run at sizes at which it holds tells of a regime; nothing where the module refuses them."""
    entry, one, way = call
    widths = widths_of(dtype)
    try:
        trace = measure(way.recipe, sizes, dtype, widths)
    except Exception:  # noqa: BLE001 - somebody else's model raises anything
        return None
    return entry.told(one, trace, way.recipe.calls_as, {**sizes, **widths})
