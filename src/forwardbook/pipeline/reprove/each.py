"""What a child process does to shake stored entries: change inputs one by one, take the fewest layers.

Sizes that are drawn all at once are rarely those at which a single one decides: one side of an image alone,
a batch of one more, a stack of a single layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import torch

from forwardbook.analyzers.instances.pretrained.depth import counts_layers
from forwardbook.formula import Condition
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.reprove.held import Again, said
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.pipeline.reprove.work import DTYPES, Call, Runs, Way, worked
from forwardbook.profiling.proof import measure, widths_of
from forwardbook.profiling.sizes import draw

TIMES: Final = (2, 10)
FEWEST: Final = (1, 2, 3)  # layers: where a loop is not entered, entered once, and gone through again
DRAWS: Final = 2  # of the other sizes, for each of these: a peak hides another
ATTEMPTS: Final = 6  # to draw them


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
        for sizes in self._sizes(calls):
            values = {**sizes, **widths}
            asked = [call for call in calls if call[1].holds(values) and not _is_wrong(call)]
            if not asked:
                continue
            try:
                trace = measure(asked[0][2].recipe, sizes, dtype, widths)
            except Exception as error:  # noqa: BLE001 - the module's own refusal of these sizes
                for entry, one, _ in asked:
                    entry.note(one, said(error))
                continue
            for entry, one, way in asked:
                if one.guessed(trace.assumed):
                    continue
                told = entry.told(one, trace, way.recipe.calls_as, values)
                missing = bool(told.unexplained) and not told.equal
                if missing and _is_spoken_of_nowhere(entry, one, way, values, dtype):
                    entry.note(one, "what no regime gives with few layers none gives with all")
                else:
                    entry.judge(one, told, values)

    def _sizes(self, calls: Sequence[Call]) -> Iterator[dict[str, int]]:
        """The model's own sizes, then each changed alone, then few layers with its own and others."""
        if not calls:
            return
        way = calls[0][2]
        beside = (*_each_input(way), *_each_of_model(way), *self._few_layers(calls))
        yield from filter(way.asked.takes, (dict(way.hints), *beside))

    def _few_layers(self, calls: Sequence[Call]) -> Iterator[dict[str, int]]:
        way = calls[0][2]
        counts = [name for name in way.hints if counts_layers(name)]
        for few in FEWEST if counts else ():
            fixed = dict.fromkeys(counts, few)
            yield {**way.hints, **fixed}
            for _ in range(DRAWS):
                asked = [*way.asked.stated, *_of_others(self.rng.choice(calls)[1], way.hints, counts)]
                drawn = draw(way.hints, asked, self.rng, fixed, attempts=ATTEMPTS)
                if drawn is not None:
                    yield drawn


def _is_spoken_of_nowhere(
    entry: Again, one: StoredRegime, way: Way, values: Mapping[str, int], dtype: torch.dtype
) -> bool:
    """Whether with all layers it gives a call at these sizes, beside a call such as no regime gives.

    Then these are sizes of which no regime speaks, however many layers there are.
    """
    layers = {name: hint for name, hint in way.hints.items() if counts_layers(name)}
    deeper = {**values, **layers}
    if deeper == values or not one.holds(deeper):
        return False
    sizes = {name: deeper[name] for name in way.hints}
    try:
        trace = measure(way.recipe, sizes, dtype, widths_of(dtype))
    except Exception:  # noqa: BLE001 - the module's own refusal of these sizes
        return False
    told = entry.told(one, trace, way.recipe.calls_as, deeper)
    return bool(told.equal and told.unexplained)


def _each_input(way: Way) -> Iterator[dict[str, int]]:
    """Each size that inputs alone have several times as large, and one larger."""
    for name in sorted(way.inputs):
        hint = way.hints[name]
        for size in (*(hint * times for times in TIMES), hint + 1):
            yield {**way.hints, name: size}


def _each_of_model(way: Way) -> Iterator[dict[str, int]]:
    """Each size that it is built with half and twice as large: which layers are of which kind may follow."""
    for name in sorted(way.hints.keys() - way.inputs):
        hint = way.hints[name]
        if not counts_layers(name):
            yield from ({**way.hints, name: size} for size in (hint // 2, hint * 2) if size)


def _of_others(one: StoredRegime, hints: Mapping[str, int], counts: Sequence[str]) -> Iterator[Condition]:
    """The conditions of a regime that say nothing of how many layers there are."""
    return (c for c in one.conditions if c.symbols() <= hints.keys() and c.symbols().isdisjoint(counts))


def _is_wrong(call: Call) -> bool:
    entry, one, _ = call
    return bool(entry.met[one.regime.name].differences)
