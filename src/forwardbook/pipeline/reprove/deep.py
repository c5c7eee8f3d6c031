"""What a child process does to find of which layers stored entries are: call models with more of them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import torch

from forwardbook.analyzers.instances.pretrained.depth import counts_layers
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.derivation.places import ANY
from forwardbook.pipeline.reprove.deep_runs import DEEP, MOST, DeepRuns, Run, run_at
from forwardbook.pipeline.reprove.held import Again
from forwardbook.pipeline.reprove.layers import layers_met
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.pipeline.reprove.work import DTYPES, TRIES, Call, Runs, worked
from forwardbook.profiling.proof import widths_of


def work(request: Request) -> Response:
    """The places of each stored entry, held against deeper models."""
    return worked(request, Deep)


class Deep(Runs):
    """Runs of the ways to call entries, as deep as they are and deeper."""

    def measured(self, same: Sequence[Call]) -> None:
        """What all regimes of one way are seen to be of."""
        if not same:
            return
        runs = DeepRuns(same[0][2].recipe)
        runs.besides = {dtype: self._far(dtype, same) for dtype in DTYPES}
        for entry in {id(entry): entry for entry, _, _ in same}.values():
            calls = [(one, its.recipe.calls_as) for other, one, its in same if other is entry]
            mine = [one for one, _ in calls if entry.is_open(one)]
            if mine:
                _judge(entry, mine, calls[0][1], runs)

    def _far(self, dtype: torch.dtype, same: Sequence[Call]) -> list[Run]:
        """Runs at larger sizes but of no more layers, where regimes of open places hold.

        What a model rounds or takes the logarithm of counts its layers, too.
        """
        widths = widths_of(dtype)
        found: list[Run] = []
        for _, one, way in same:
            is_open = ANY in one.regime.context and one.holds_for(widths)
            if not is_open or any(one.holds(run.values) for run in found) or len(found) == MOST:
                continue
            for attempt in range(TRIES):
                sizes = self.sizes_for(one, way, attempt)
                if sizes is None:
                    continue
                few = {name: min(size, DEEP) if counts_layers(name) else size for name, size in sizes.items()}
                with contextlib.suppress(Exception):  # the module's own refusal of these sizes
                    found.append(run_at(way.recipe, few, dtype))
                    break
        return found


def _judge(entry: Again, mine: Sequence[StoredRegime], target: str, runs: DeepRuns) -> None:
    """What the runs tell of some regimes of an entry."""
    beside = [other for other in entry.regimes if any(map(other.shares_runs, mine))]
    found = layers_met(beside, target, runs)
    for one in mine:
        name = one.regime.name
        if (wrong := found.wrong.get(name)) is not None:
            entry.refute(one, wrong.differences, wrong.values, explains=False)
        elif name in found.held:
            entry.confirm(one, runs.hints)
            entry.met[name].places = found.places.get(name, ())
        else:
            entry.note(one, "no size counts its layers, or it holds in no deeper run")
