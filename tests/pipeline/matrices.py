"""Recipes of small modules over a matrix, and modules that several tests derive."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.formula import Expr

Maker = Callable[..., Recipe]
ROWS, WIDTH = Expr.symbol("rows"), Expr.symbol("width")


def over_rows(recipe_from: Maker, kind: type[nn.Module], *arguments: str, **sizes: int) -> Recipe:
    """A module over a matrix; `arguments` are sizes that its constructor takes."""
    hints = {"rows": 9, "width": 6, **sizes}
    return recipe_from(
        kind,
        lambda n: kind(*(getattr(n, name) for name in arguments)),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        **hints,
    )


class Projection(nn.Module):
    """One product."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, width))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight)


class Stack(nn.Module):
    """A number of projections."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Projection(width) for _ in range(layers)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x
