"""`zip` over layers and maps ends with the shorter: which that is becomes a condition in their sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import patterns
from forwardbook.analyzers.symbolic.run import run_symbolically

Maker = Callable[..., Recipe]


class Levels(nn.Module):
    """One layer for each row, as many as there are of both; `then` says how they are paired."""

    def __init__(self, width: int, levels: int, then: str) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(levels)])
        self.then = then

    def forward(self, rows: Tensor) -> list[Tensor]:
        if self.then == "literal":
            return [layer(rows) * scale for layer, scale in zip(self.layers, (1, 2, 3))]  # noqa: B905
        if self.then == "next":
            return [b(a(rows)) for a, b in zip(self.layers, list(self.layers)[1:])]  # noqa: B905
        if self.then == "strict":
            return [layer(row) for layer, row in zip(self.layers, rows, strict=True)]
        return [layer(row) for layer, row in zip(self.layers, rows)]  # noqa: B905


def said(recipe_from: Maker, then: str, **sizes: int) -> list[str]:
    """What a run says of the levels."""
    recipe = recipe_from(
        Levels,
        lambda n: Levels(n.width, n.levels, then),
        lambda n, maker: (maker.floats((n.rows, 2, n.width)),),
        **{"width": 11, **sizes},
    )
    [pattern] = patterns(run_symbolically(recipe), recipe.calls_as)
    return [c.text() for c in pattern.conditions if "levels" in c.text()]


@pytest.mark.parametrize(
    ("then", "levels", "rows", "expected"),
    [
        ("pair", 5, 7, ["{levels} <= {rows}"]),
        ("pair", 7, 5, ["{rows} <= {levels}"]),
        ("literal", 5, 7, ["3 <= {levels}"]),
        ("literal", 2, 7, ["{levels} <= 3"]),
        ("strict", 5, 5, ["{levels} == {rows}"]),
        ("next", 5, 7, []),
    ],
)
def test_the_shorter_of_two_is_said_in_sizes(
    recipe_from: Maker, then: str, levels: int, rows: int, expected: list[str]
) -> None:
    """Never a number of the run: a list of layers is as long as the count that made it, a literal is not."""
    assert expected == said(recipe_from, then, levels=levels, rows=rows)


def test_what_zip_gives_is_what_python_gives() -> None:
    """Pairs up to the shorter of both."""
    real = Levels(3, 4, "pair")
    assert 2 == len(real(torch.zeros(2, 2, 3)))
