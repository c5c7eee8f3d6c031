"""The largest of positions stays a formula of the length that they count up to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.formula import Expr
from forwardbook.pipeline.derivation.explore import regimes_of

COLUMN = 16


class Columns(nn.Module):
    """A table of which so many columns are multiplied as the positions need."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.ones(64, width))
        self.inner = nn.Linear(width, width)

    def positions(self, x: Tensor) -> Tensor:
        return torch.arange(x.shape[0], device=x.device)

    def forward(self, x: Tensor) -> Tensor:
        needed = (int(self.positions(x).max().item()) + COLUMN) // COLUMN
        return x + self.inner(self.table[:needed]).sum()  # type: ignore[no-any-return]


class Shaped(Columns):
    """In more dimensions, and copied."""

    def positions(self, x: Tensor) -> Tensor:
        return super().positions(x).unsqueeze(0).expand(3, x.shape[0]).clone().to(torch.int32)


class Moved(Columns):
    """Counted from one and back."""

    def positions(self, x: Tensor) -> Tensor:
        return super().positions(x) + 1 - 1


class Later(Columns):
    """Counted from another start."""

    def positions(self, x: Tensor) -> Tensor:
        return torch.arange(4, x.shape[0] + 4, device=x.device)


@pytest.mark.parametrize("kind", [Columns, Shaped, Moved, Later])
def test_what_the_largest_position_needs_steps_with_the_length(
    recipe_from: Callable[..., Recipe], kind: type[Columns]
) -> None:
    """A row of the table is multiplied for each 16 positions, at every length of which the formula speaks."""
    recipe = recipe_from(
        kind, lambda n: kind(n.width), lambda n, maker: (maker.floats((n.rows, n.width)),), rows=41, width=3
    )
    exact = [one for one in regimes_of(recipe, seed=1, points=3, explore=False) if one.exact]
    assert exact
    met = 0
    for rows in (17, 30, 41, 52, 200):
        sizes = {"rows": rows, "width": 5}
        needed = -(-(rows + (4 if kind is Later else 0)) // COLUMN)
        for one in exact:
            if all(condition.is_met(sizes) for condition in one.derived.pattern.conditions):
                flops = Expr.of(one.derived.pattern.summary.totals.flops)
                assert flops.evaluate(sizes) == 2 * 5 * 5 * needed
                met += 1
    assert met >= 4
