"""A forward() in inference mode costs what it costs elsewhere, though there operations come whole."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.analyzers.symbolic.summary import Summary

ROWS, WIDTH, OUT = 5, 8, 6
Maker = Callable[..., Recipe]
Measured = Callable[[Recipe], Summary]


class Plain(nn.Module):
    """A product, another format, and an edge around it."""

    def __init__(self) -> None:
        super().__init__()
        self.product = nn.Linear(WIDTH, OUT)

    def forward(self, x: Tensor) -> Tensor:
        return F.pad(self.product(x).to(torch.float64), (1, 1))


class Inference(Plain):
    """The same without anything that autograd keeps."""

    @torch.inference_mode()
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)


def over_rows(recipe_from: Maker, kind: type[nn.Module]) -> Recipe:
    """The module over a matrix."""
    return recipe_from(
        kind, lambda n: kind(), lambda n, maker: (maker.floats((n.rows, WIDTH)),), rows=ROWS
    )


def test_inference_mode_costs_what_other_modes_do(recipe_from: Maker, measured: Measured) -> None:
    """2 * rows * width * out operations, and as many bytes as without it."""
    found = measured(over_rows(recipe_from, Inference))

    assert 2 * ROWS * WIDTH * OUT == found.totals.flops
    assert measured(over_rows(recipe_from, Plain)).quantities() == found.quantities()


def test_inference_mode_leaves_no_operation_without_rule(recipe_from: Maker) -> None:
    """A pad and a change of format are read as the operations that they consist of."""
    trace = run_symbolically(over_rows(recipe_from, Inference)).trace

    assert [] == trace.unruled
    assert {"aten.constant_pad_nd", "aten._to_copy"} <= {one.name for one in trace.operations}
