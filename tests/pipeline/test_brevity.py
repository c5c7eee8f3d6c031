"""Where sizes repeat within each other until no text holds them, some are held, and a condition says so."""

from __future__ import annotations

import torch
from torch import nn

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.formula import Expr
from forwardbook.formula.limits import MAX_TEXT
from forwardbook.pipeline.derivation.regimes import derive

DEPTH = 13  # each level names the one below it twice


class Folded(nn.Module):
    """A length that is stretched and cut so often that its formula cannot be written out."""

    def __init__(self, stride: int, kernel: int, *further: int) -> None:
        super().__init__()
        self.stride, self.kernel, self.further = stride, kernel, further

    def length(self, length: int) -> int:
        for _ in range(DEPTH):
            length = (length * self.stride + length // self.kernel) // self.stride
        return length

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.new_ones(self.length(x.shape[0]), *self.further).exp()


def _built(sizes: Sizes) -> nn.Module:
    further = (sizes("height", 6), sizes("width", 4), sizes("dim", 5))
    return Folded(sizes("stride", 3), sizes("kernel", 2), *further)


def _inputs(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
    return (maker.floats((sizes("seq_len", 16),)),), {}


NAME = f"{Folded.__module__}.{Folded.__qualname__}"
RECIPE = Recipe(NAME, Folded.__module__, _built, _inputs)


def test_a_formula_too_long_to_be_read_holds_what_it_names_most_often() -> None:
    [found] = derive(RECIPE, torch.float32, [NAME], seed=0)
    reads = Expr.of(found.pattern.summary.totals.reads)
    assert found.exact
    held = {"{seq_len} == 16", "{kernel} == 2", "{stride} == 3"}
    assert held <= {c.text() for c in found.pattern.conditions}
    assert {"height", "width", "dim"} == reads.symbols() - {"a_dtype_bytes"}
    assert len(reads.text()) <= MAX_TEXT
    sizes = {"height": 7, "width": 8, "dim": 9, "a_dtype_bytes": 4}
    assert 4 * 7 * 8 * 9 * Folded(3, 2).length(16) == reads.evaluate(sizes)
