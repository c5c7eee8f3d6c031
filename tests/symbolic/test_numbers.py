"""A size that torch.div gives of two others stays a formula."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.numbers import divided
from forwardbook.pipeline.derivation.explore import regimes_of


@pytest.mark.parametrize("mode", ["trunc", "floor"])
@pytest.mark.parametrize(("above", "below"), [(7, 2), (-7, 2), (7, -2), (-7, -2), (8, 2), (0, 3)])
def test_whole_numbers_are_divided_as_torch_does(above: int, below: int, mode: str) -> None:
    """Python's division, rounded as asked, is what torch's tensor of it holds."""
    assert torch.div(above, below, rounding_mode=mode).item() == divided(above, below, rounding_mode=mode)  # type: ignore[call-overload]


class Paired(nn.Module):
    """Lays every two rows side by side."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix = nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        pairs = torch.div(x.size(0), 2, rounding_mode="trunc")  # type: ignore[call-overload]
        return self.mix(x[: 2 * pairs].reshape(pairs, 2 * x.size(1)))  # type: ignore[no-any-return]


def test_a_shape_that_torch_div_gave_has_a_formula(recipe_from: Callable[..., Recipe]) -> None:
    """Half the rows, rounded down, are multiplied with the weights: proved with rows and width as names."""
    recipe = recipe_from(
        Paired,
        lambda n: Paired(n.width),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        **{"rows": 7, "width": 6},
    )
    found = [one for one in regimes_of(recipe, seed=1, points=3, explore=False) if one.exact]

    assert ["4 * {width} * {width} * floor({rows} / 2)"] == [
        one.derived.pattern.summary.totals.flops.text() for one in found
    ]
