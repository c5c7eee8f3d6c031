"""What a regime says of sizes that are 1, held against a live module there."""

from __future__ import annotations

import torch
from torch import Tensor, nn

import forwardbook
from forwardbook.pipeline.derivation.explore import regimes_of

from .matrices import Maker

QUANTITIES = ("flops", "reads", "writes", "intermediates", "peak")


class Skipping(nn.Module):
    """A product over every so many rows: at a stride of 1 nothing is copied."""

    def __init__(self, width: int, stride: int) -> None:
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.fc(x[:, :: self.stride])
        return out


def test_a_regime_of_one_batch_keeps_the_condition_that_a_stride_is_above_1(recipe_from: Maker) -> None:
    """Every regime that holds at a batch of 1 gives what a live call costs, whichever of the others are 1."""
    recipe = recipe_from(
        Skipping,
        lambda n: Skipping(n.width, n.stride),
        lambda n, maker: (maker.floats((n.batch_size, n.rows, n.width)),),
        **{"batch_size": 5, "rows": 7, "width": 6, "stride": 3},
    )
    found = [one for one in regimes_of(recipe, seed=1, points=3, explore=True) if one.exact]
    held = 0
    for rows, stride in ((7, 1), (8, 3), (1, 1), (1, 3)):
        sizes = {"batch_size": 1, "rows": rows, "width": 5, "stride": stride}
        report = forwardbook.cost(Skipping(5, stride), torch.zeros(1, rows, 5))
        sizes |= {"a_dtype_bytes": 4, "w_dtype_bytes": 4, "kv_dtype_bytes": 4}
        for one in found:
            if all(c.is_met(sizes) for c in one.conditions):
                told = one.derived.pattern.summary.quantities()
                given = {name: told[name].evaluate(sizes) for name in QUANTITIES}  # type: ignore[union-attr]
                assert given == {name: getattr(report, name) for name in QUANTITIES}, (one.label, sizes)
                held += 1
    assert held
