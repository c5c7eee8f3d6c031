"""What is known of the cost of a whole model: one tree of formulas for each phase and regime, with its proof.

Every size of the config is a number in these formulas; what remains are the sizes of a call (`batch_size`,
`seq_len`, `kv_len`, ...) and the three widths in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Final, Literal

from pydantic import Field

from forwardbook.schema import Formula, Judge, Parameter, Record, Unresolved

COSTS_VERSION: Final = 1
PhaseName = Literal["prefill", "decode"]

POSITIONS: Final = ("seq_len", "decoder_seq_len", "kv_len")
"""Sizes of a call that count positions, of which a model was made for so many."""


class Quantities(Record):
    """The formulas of one call; `peak` is that of the first of several equal calls."""

    flops: Formula
    pointwise_ops: Formula
    reads: Formula
    writes: Formula
    weights: Formula
    boundary: Formula
    intermediates: Formula
    peak: Formula


class AttentionCost(Record):
    """Attention issued by a layer itself: `dense` multiplies every pair, `executed` what the mask leaves.

    `executed` is null where no known shape fits the mask; then nobody may claim less than dense. One that is
    not `fused` is one of the two products around a softmax.
    """

    count: int = Field(ge=1)
    dense: Formula
    executed: Formula | None
    shape: Literal["full", "causal", "sliding", "around", "chunked", "unknown"]
    fused: bool = True


class LayerCosts(Record):
    """A called module and `repeat - 1` siblings of equal cost; formulas are of one call of one of them."""

    name: str
    class_name: str
    repeat: int = Field(ge=1)
    costs: Quantities
    attention: list[AttentionCost] = []
    sub_layers: list[LayerCosts] = []

    def walk(self, times: int = 1, path: str = "") -> Iterator[tuple[str, int, LayerCosts]]:
        """This layer and all beneath it: full name, how often it is called in all, and the layer."""
        times *= self.repeat
        name = f"{path}.{self.name}" if path and self.name else self.name or path
        yield name, times, self
        for layer in self.sub_layers:
            yield from layer.walk(times, name)


class CostPoint(Record):
    """Sizes at which the whole model was run on the meta device, and what was predicted and counted."""

    sizes: dict[str, int]
    predicted: dict[str, int]
    measured: dict[str, int]
    layers: int


class CostProof(Record):
    """The points, all equal as integers, and judges that share no rule with us."""

    verdict: Literal["exact", "wrong"]
    device: str = "meta"
    dtype: str
    points: list[CostPoint]
    judges: list[Judge] = []
    differences: list[str] = []


class PhaseCosts(Record):
    """One phase under its conditions."""

    phase: PhaseName
    conditions: list[str]
    parameters: list[Parameter]
    assumptions: list[str] = []
    unresolved: list[Unresolved] = []
    cache: Formula = "0"
    model: LayerCosts
    proof: CostProof


def tells_width(weights: str) -> bool:
    """Whether a formula of weights that are read names their width; where none are read, none need be."""
    return weights == "0" or "{w_dtype_bytes}" in weights


class ModelCosts(Record):
    """All that was derived for one model and config.

    Buffers whose type is that of the weights are counted in elements, the others in bytes.
    """

    costs_version: int = COSTS_VERSION
    model_id: str
    model_class: str
    config_digest: str
    versions: dict[str, str]
    rules_version: str
    parameter_count: int
    buffer_elements: int = 0
    buffer_bytes: int
    generates: bool | None = None
    phases: list[PhaseCosts]

    def weight_bytes(self, w_bit: int) -> int:
        """Bytes of all parameters and buffers, those of the weights' type at that many bits."""
        return ceil(Fraction((self.parameter_count + self.buffer_elements) * w_bit, 8)) + self.buffer_bytes
