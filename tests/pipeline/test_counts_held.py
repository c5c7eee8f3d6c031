"""Where a count of layers was not interpolated over, formulas hold at the count that ran and say so."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import nn

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.pipeline.counts_held import with_counts_held
from forwardbook.pipeline.regimes import derive


class Stack(nn.Module):
    """So many linear layers."""

    def __init__(self, depth: int, dim: int, inner: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.last = nn.Linear(dim, inner)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        out: torch.Tensor = self.last(x)
        return out


NAME = f"{Stack.__module__}.{Stack.__qualname__}"


def _built(sizes: Sizes) -> nn.Module:
    return Stack(sizes("depth", 2), sizes("dim", 12), sizes("inner", 5))


def _inputs(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
    return (maker.floats((sizes("batch_size", 3), sizes("dim", 12))),), {}


RECIPE = Recipe(NAME, Stack.__module__, _built, _inputs)


def test_the_count_that_ran_is_a_condition() -> None:
    """What was refuted at other counts is proved at that one, at points where the other sizes change."""
    [before] = derive(RECIPE, torch.float32, [NAME], 3, loops=False)

    [after] = with_counts_held([before], 3, 3)

    assert not before.exact and after.exact
    assert "{depth} == 2" in [condition.text() for condition in after.pattern.conditions]
    assert all(1 < len({point.sizes[name] for point in after.proof.points}) for name in ("dim", "inner"))
    assert {2} == {point.sizes["depth"] for point in after.proof.points}


def test_a_wrong_formula_stays_wrong() -> None:
    """Holding counts mends nothing else: a formula that is off at every count is left as it was."""
    [before] = derive(RECIPE, torch.float32, [NAME], 3, loops=False)
    summary = before.pattern.summary
    off = replace(before.pattern, summary=replace(summary, weights=summary.weights + 1))
    wrong = replace(before, pattern=off)

    assert [wrong] == with_counts_held([wrong], 3, 3)
