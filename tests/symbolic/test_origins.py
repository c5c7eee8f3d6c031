"""A number that is made of values hangs on the sizes that these were made with."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.ledger import Ledger
from forwardbook.analyzers.symbolic.patterns import patterns
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.analyzers.symbolic.shadows import to_meta
from forwardbook.analyzers.symbolic.values import Values

aten = torch.ops.aten


class Inner(nn.Module):
    """Projects the rows that are no nearer to the first one than a distance."""

    def __init__(self, width: int, distance: int) -> None:
        super().__init__()
        self.project, self.distance = nn.Linear(width, width), distance

    def forward(self, x: Tensor) -> Tensor:
        places = torch.arange(len(x), device=x.device) * 2
        return self.project(x[places >= self.distance])


def test_rows_that_a_size_chooses_hang_on_it() -> None:
    """How many places lie beyond a distance is a number, and the distance is written down as needed."""
    ledger = Ledger()
    distance, other = ledger.symbol("distance", 2), ledger.symbol("other", 3)
    values = Values(symbolic=True)
    far = values.run(aten.ge.Scalar, (to_meta(torch.arange(5)), distance), {})
    values.run(aten.ge.Scalar, (to_meta(torch.arange(5)), other), {})
    chosen = values.run(aten.nonzero.default, (far,), {})

    assert isinstance(chosen, Tensor)
    assert ((3, 1), [distance.node]) == (tuple(chosen.shape), [one.node for one in ledger.consumed])


def test_a_module_needs_the_distance_that_its_rows_are_chosen_by(recipe_from: Callable[..., Recipe]) -> None:
    """So it is with values that a forward() makes: what chose the rows is needed as a number."""
    recipe = recipe_from(
        Inner,
        lambda n: Inner(n.width, n.distance),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        rows=9,
        width=8,
        distance=6,
    )
    (pattern,) = patterns(run_symbolically(recipe), recipe.calls_as)

    assert {"rows", "distance"} == {name for one in pattern.consumed for name in one.symbols}
