"""Loops within loops: the counts multiply."""

import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.formula import parse
from forwardbook.pipeline.derivation.regimes import derive


class Steps(nn.Module):
    """Every layer walks over time."""

    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        self.layers = layers
        self.map = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = x[:, 0]
        for _ in range(self.layers):
            for step in range(x.shape[1]):
                y = y + self.map(x[:, step])
        return y


def test_counts_of_nested_loops_multiply() -> None:
    """Layers times steps: the product is found, and proved at random counts."""
    recipe = Recipe(
        target=f"{Steps.__module__}.Steps",
        library="tests",
        build=lambda sizes: Steps(sizes("layers", 3), sizes("width", 7)),
        inputs=lambda sizes, module, maker: (
            (maker.floats((sizes("batch_size", 2), sizes("seq_len", 5), sizes("width", 7))),),
            {},
        ),
    )
    (one,) = derive(recipe, torch.float32, [recipe.target], seed=1)

    assert one.exact
    expected = parse("2 * {batch_size} * {layers} * {seq_len} * {width} * {width}")
    assert expected == one.pattern.summary.totals.flops


class Sixth(nn.Module):
    """Every sixth layer asks for a table that is made once."""

    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        self.kinds = [i % 6 == 5 for i in range(layers)]
        self.table = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        if True in self.kinds:
            x = x * self.table.exp()
        for _ in self.kinds:
            x = x + 1
        return x


def test_what_comes_with_many_layers_bounds_their_number() -> None:
    """The table is there from six layers on: the formula says so and is proved at such counts."""
    recipe = Recipe(
        target=f"{Sixth.__module__}.Sixth",
        library="tests",
        build=lambda sizes: Sixth(sizes("layers", 6), sizes("width", 7)),
        inputs=lambda sizes, module, maker: ((maker.floats((sizes("rows", 5), sizes("width", 7))),), {}),
    )
    (one,) = derive(recipe, torch.float32, [recipe.target], seed=1, points=6)

    assert one.exact
    assert "{layers} >= 6" in [c.text() for c in one.pattern.conditions]
    expected = parse("{rows} * {width} * ({layers} + 1) + {width}")
    assert expected == one.pattern.summary.totals.pointwise_ops
