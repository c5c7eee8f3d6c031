"""What a model page is about: the kept formulas of a model, its structure, devices, and pages to lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from forwardbook.errors import ForwardbookError
from forwardbook.models.populated import Populated
from forwardbook.models.record import POSITIONS, ModelCosts, PhaseCosts
from forwardbook.models.roofline import Device
from forwardbook.models.totals import Widths, holding
from forwardbook.models.usual import USUAL

WIDTHS: Final = Widths()
"""16 bit everywhere: what a page begins with."""

_TRIED: Final = (
    {"seq_len": 2048}, {"seq_len": 512}, {"seq_len": 64}, {"seq_len": 64, "batch_size": 2},
    {"batch_size": 2, "seq_len": 2048},
)  # fmt: skip


@dataclass(frozen=True)
class ModelSubject:
    """A model: `pages` leads from full class names to pages of modules."""

    costs: ModelCosts
    populated: Populated | None = None
    devices: Sequence[Device] = ()
    pages: Mapping[str, str] = field(default_factory=dict)
    positions: int | None = None
    """Those that its config says it was made for."""

    def caution(self, sizes: Mapping[str, int]) -> str:
        """What a careful reader would want to be told of a call; nothing where it is ordinary."""
        reached = max((sizes.get(name, 0) for name in POSITIONS), default=0)
        if self.positions is None or reached <= self.positions:
            return ""
        return f"{reached:,} positions are more than the {self.positions:,} that the model was made for"

    def point(self, phase: str) -> tuple[PhaseCosts, dict[str, int]] | None:
        """The formulas of a phase, and the first usual sizes at which they hold."""
        known = [each for each in self.costs.phases if each.phase == phase]
        names = [each.name for each in known[0].parameters] if known else []
        for tried in _TRIED if known else ():
            sizes = {name: {**USUAL, **tried}.get(name, 1) for name in names}
            try:
                return holding(known, phase, sizes, WIDTHS), sizes
            except ForwardbookError:
                continue
        return None
