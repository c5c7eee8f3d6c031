"""Layouts that are remembered: results are laid out as those of operations that are run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic import run as runs
from forwardbook.analyzers.symbolic.memory import Memory, forget
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_symbolically


class Layer(nn.Module):
    """Views, copies, products, in place and out of place."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.map = nn.LayerNorm(width), nn.Linear(width, 2 * width)

    def forward(self, x: Tensor) -> Tensor:
        left, right = self.map(self.norm(x)).chunk(2, -1)
        weights = (left @ right.transpose(-1, -2)).softmax(-1)
        turned = (weights @ right).transpose(0, 1).reshape(x.shape)
        turned.mul_(2)
        return x + torch.cat([turned[..., ::2], turned[..., 1::2]], -1)[:, :, : x.shape[-1]]


class Stack(nn.Module):
    """Equal layers."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Forgetful(Memory):
    """Runs everything."""

    def run(
        self,
        run: Callable[..., object],
        func: torch._ops.OpOverload,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        return run(func, args, kwargs)


@pytest.fixture
def recipe(recipe_from: Callable[..., Recipe]) -> Recipe:
    """A stack of three layers over rows of vectors."""
    return recipe_from(
        Stack,
        lambda n: Stack(n.width, n.layers),
        lambda n, maker: (maker.floats((n.batch, n.rows, n.width)),),
        batch=2,
        rows=5,
        width=6,
        layers=3,
    )


def _said(run: SymbolicRun) -> tuple[list[str], list[str], list[str]]:
    """Costs and places of operations, births and deaths, conditions."""
    told = [f"{o.name} {o.cost} {o.call} {o.frames} {o.touched}" for o in run.trace.operations]
    events = [f"{e.storage} {e.size} {e.alive}" for e in run.trace.events]
    return told, events, [c.text() for c in run.expressions.conditions(run.ledger.guards)]


def test_a_run_that_remembers_says_what_one_says_that_does_not(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Operations, lives of storages and conditions are the same."""
    remembering = _said(run_symbolically(recipe))
    monkeypatch.setattr(runs, "Memory", Forgetful)

    assert _said(run_symbolically(recipe)) == remembering


def test_equal_layers_run_once(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the layers do runs for one, listened to twice; what changes a tensor in place, for each."""
    counted: list[str] = []
    original = Memory.run

    def counting(
        self: Memory,
        run: Callable[..., object],
        func: torch._ops.OpOverload,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        def noted(*given: object) -> object:
            counted.append(func.name())
            return run(*given)

        return original(self, noted, func, args, kwargs)

    monkeypatch.setattr(Memory, "run", counting)
    forget()
    run_symbolically(recipe)

    assert 3 == counted.count("aten::mul_.Tensor")
    assert 2 == counted.count("aten::_softmax")
    assert 2 == counted.count("aten::native_layer_norm")
