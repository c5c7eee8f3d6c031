"""What a regime says of sizes that are 1, held against a live module there."""

from __future__ import annotations

import pytest
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


class Pieces(nn.Module):
    """A layer for each piece of two rows, as many as there are of both."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        total = torch.zeros((), device=x.device)
        for place, (layer, part) in enumerate(zip(self.layers, x.split(2, dim=1), strict=False)):
            total = total + layer(part).sum() * place
        return total


@pytest.mark.slow
def test_a_regime_of_width_1_does_not_forget_how_many_pieces_there_are(recipe_from: Maker) -> None:
    """The number of pieces is one of the run's own length: no regime holds at another length and says it."""
    recipe = recipe_from(
        Pieces,
        lambda n: Pieces(n.width, n.depth),
        lambda n, maker: (maker.floats((n.batch_size, n.rows, n.width)),),
        **{"batch_size": 5, "rows": 9, "width": 6, "depth": 3},
    )
    found = [one for one in regimes_of(recipe, seed=1, points=3, explore=True) if one.exact]
    assert found
    for rows, width, depth in ((8, 1, 5), (4, 1, 3), (2, 1, 2), (8, 3, 5)):
        sizes = {"batch_size": 9, "rows": rows, "width": width, "depth": depth}
        flops = forwardbook.cost(Pieces(width, depth), torch.zeros(9, rows, width)).flops
        sizes |= {"a_dtype_bytes": 4, "w_dtype_bytes": 4, "kv_dtype_bytes": 4}
        for one in found:
            if all(c.is_met(sizes) for c in one.conditions):
                told = one.derived.pattern.summary.quantities()["flops"]
                assert flops == told.evaluate(sizes), (one.label, sizes)  # type: ignore[union-attr]
