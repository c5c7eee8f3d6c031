"""A regime is proved under its own conditions, not only where those of what holds the module hold too."""

from __future__ import annotations

import pytest
from torch import Tensor, nn

from forwardbook.pipeline.derivation.explore import FULL
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import relax

from .matrices import Maker, Projection


class Square(nn.Module):
    """A layer over patches of a square image, of which the number of rows is a square root."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = Projection(width)

    def forward(self, x: Tensor) -> Tensor:
        side = int(x.shape[1] ** 0.5)
        return self.layer(x.reshape(x.shape[0], side, side, x.shape[2]))


@pytest.mark.parametrize("seed", range(4))
def test_a_layer_handed_a_number_says_the_sizes_that_the_number_was_made_of(
    recipe_from: Maker, seed: int
) -> None:
    """24 / 6 and 32 / 8 give four rows and 30 / 6 five: neither size is held, yet their ratio is."""
    recipe = recipe_from(
        Square,
        lambda n: Square(n.width),
        lambda n, maker: (maker.floats((n.batch, (n.image // n.patch) * (n.image // n.patch), n.width)),),
        batch=3,
        image=24,
        patch=6,
        width=10,
    )
    layer = f"{Projection.__module__}.{Projection.__qualname__}"
    found = relax(derive(recipe, FULL, [recipe.calls_as, layer], seed), seed)

    assert 2 == len(found)
    sizes = {"batch": 3, "image": 30, "patch": 6, "width": 10}
    for one in found:
        flops = one.derived.pattern.summary.totals.flops
        right = flops.evaluate(sizes) == 2 * 3 * 25 * 10 * 10
        assert right or not one.derived.exact or not all(c.holds(sizes) for c in one.conditions)
