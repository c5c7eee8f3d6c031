"""A model and the calls that ran in; what the formulas say of each call, exact, layer by layer, out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forwardbook.models.record import PhaseCosts
from forwardbook.models.totals import NoFormulas, Totals, Widths, evaluate, holding
from forwardbook.pipeline.model.costs import phase_costs
from forwardbook.pipeline.model.pipeline import SEED
from forwardbook.pipeline.model.source import ModelRefused

if TYPE_CHECKING:
    import torch

    from forwardbook.analyzers.instances.pretrained.whole import Phase
    from forwardbook.profiling.passes.workload import CallSeen


@dataclass
class Predictor:
    """Formulas of the phases of one model in one dtype, derived and proved as calls ask for them."""

    phases: Mapping[str, Phase]
    dtype: torch.dtype
    sizes: Mapping[str, int]
    known: dict[str, list[PhaseCosts]] = field(default_factory=dict)

    def predict(self, call: CallSeen) -> Totals:
        """What the formulas say of one call.

        Raises:
            ModelRefused: where no formulas hold at the sizes of the call.
        """
        return self.formulas(call)[1]

    def formulas(self, call: CallSeen) -> tuple[PhaseCosts, Totals]:
        """The formulas that hold for one call, and their values.

        Raises:
            ModelRefused: where none hold at the sizes of the call.
        """
        name = "prefill" if call.phase == "forward" else call.phase
        phase = self.phases.get(name)
        if phase is None:
            raise ModelRefused(f"predicting a call: no formulas are derived for {call.phase}")
        sizes = dict(self.sizes)
        if name == "decode":
            sizes["kv_len"] = call.past
        costs = self._holding(name, phase, sizes)
        return costs, evaluate(costs, {p.name: sizes[p.name] for p in costs.parameters}, self.widths)

    @property
    def widths(self) -> Widths:
        """Everything in the one dtype."""
        bits = self.dtype.itemsize * 8
        return Widths(bits, bits, bits)

    def _holding(self, name: str, phase: Phase, sizes: Mapping[str, int]) -> PhaseCosts:
        known = self.known.setdefault(name, [])
        for pinned in ({}, {n: s for n, s in sizes.items() if s == 1}):
            if known:
                try:
                    return holding(known, known[0].phase, sizes, self.widths)
                except NoFormulas:
                    pass
            found = phase_costs(phase, self.dtype, SEED, sizes if pinned else None, pinned)
            if found.proof.verdict != "exact":
                told = "; ".join(found.proof.differences[:3])
                raise ModelRefused(f"proving {phase.recipe.target} ({name}): formulas differ: {told}")
            known.append(found)
        return holding(known, known[0].phase, sizes, self.widths)
