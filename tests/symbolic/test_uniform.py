"""Of a tensor too large to carry its values, and full of one, it is known what comparisons and sums make."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.analyzers.symbolic.shadows import LIMIT
from forwardbook.analyzers.symbolic.uniform import full_of, value_of

IMAGES, CHANNELS, ROWS, COLUMNS = 3, 3, 700, 600
Maker = Callable[..., Recipe]
Symbolic = Callable[..., Pattern]


class Unpadded(nn.Module):
    """Leaves out images that are zero everywhere, and doubles the others one by one, as Idefics does."""

    def forward(self, pixels: Tensor) -> list[Tensor]:
        real = (pixels == 0.0).sum(dim=(-1, -2, -3)) != pixels.shape[1:].numel()
        each = real.view(-1, 1).sum(dim=1)
        return [one * 2 for one in pixels[real].split(each.tolist())]


def test_images_full_of_ones_are_no_padding(recipe_from: Maker, symbolic: Symbolic) -> None:
    """Every image is doubled: of 1,260,000 numbers each, which no run carries."""
    recipe = recipe_from(
        Unpadded,
        lambda n: Unpadded(),
        lambda n, maker: (maker.ones((n.images, CHANNELS, ROWS, n.columns)),),
        images=IMAGES,
        columns=COLUMNS,
    )
    found = symbolic(recipe)

    assert IMAGES * CHANNELS * ROWS * COLUMNS > LIMIT
    assert not [one for one in found.consumed if "count" in str(one.symbols)]


def test_another_value_is_not_taken_for_it() -> None:
    """A tensor that nobody marked holds no one value."""
    assert value_of(torch.empty(2, device="meta")) is None
    assert 1 == value_of(full_of(torch.empty(2, device="meta"), 1))
