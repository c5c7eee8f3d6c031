"""The calls of a class fall into patterns of equal cost, each with the conditions under which it holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import class_name, find_call, patterns, summary_at
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_symbolically
from forwardbook.formula import Expr

LINEAR = class_name(nn.Linear(1, 1))


class Model(nn.Module):
    """Three projections, two of one shape; one is called twice."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        if inner < width:
            raise ValueError("too narrow")
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
        self.up = nn.Linear(width, inner)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.first(x) + self.second(x)
        out: Tensor = self.up(self.first(x))
        return out


@pytest.fixture
def run(recipe_from: Callable[..., Recipe]) -> SymbolicRun:
    """A symbolic run of the model."""
    return run_symbolically(
        recipe_from(
            Model,
            lambda n: Model(n.width, n.inner),
            lambda n, maker: (maker.floats((n.rows, n.width)), None),
            rows=5,
            width=6,
            inner=9,
        )
    )


def test_equal_calls_are_one_pattern(run: SymbolicRun) -> None:
    """Two modules of one shape, called three times, are one pattern; another shape is another."""
    found = patterns(run, LINEAR)

    assert [("first", "second"), ("up",)] == [one.paths for one in found]
    rows, width, inner = (Expr.symbol(n) for n in ("rows", "width", "inner"))
    assert [2 * rows * width * width, 2 * rows * width * inner] == [one.summary.totals.flops for one in found]
    assert frozenset({"rows", "width", "inner", "a_dtype_bytes", "w_dtype_bytes"}) == found[1].symbols()


def test_condition_of_the_constructor_belongs_to_its_module(run: SymbolicRun) -> None:
    """What the constructor compared is a condition of the model, not of its parts."""
    (model,) = patterns(run, class_name(run.root))
    of_parts = [c.text() for one in patterns(run, LINEAR) for c in one.conditions]

    assert "{inner} >= {width}" in [c.text() for c in model.conditions]
    assert "{inner} >= {width}" not in of_parts


def test_submodules_are_told_with_their_sizes(run: SymbolicRun) -> None:
    """Each call of a submodule names its line, its attribute, its class and the sizes it was built with."""
    (model,) = patterns(run, class_name(run.root))
    line = Model.forward.__code__.co_firstlineno

    assert [(line + 1, "first"), (line + 1, "second"), (line + 2, "first"), (line + 2, "up")] == [
        (call.line, call.attribute) for call in model.subcalls
    ]
    sizes = dict(model.subcalls[-1].bindings)
    assert {"in_features": Expr.symbol("width"), "out_features": Expr.symbol("inner")} == sizes
    assert ("x",) == model.given


def test_calls_are_found_by_path(run: SymbolicRun) -> None:
    """The second call of a module is found by its path and number; a third there is not."""
    second = find_call(run.trace, "first", 1)
    assert second is not None

    assert torch.nn.Linear is second.kind
    assert find_call(run.trace, "first", 2) is None
    assert summary_at(run, "first", 1) == summary_at(run, "second", 0)


class Halves(nn.Module):
    """Does more where there are more than four rows."""

    def forward(self, x: Tensor) -> Tensor:
        return x * 2 if x.shape[0] > 4 else x


class Other(Halves):
    """Asks the same."""


def test_what_was_asked_before_is_a_condition_of_whoever_asks_again(
    recipe_from: Callable[..., Recipe],
) -> None:
    """A comparison that one module made is made by the next as well: both have the condition."""

    def built(n: object) -> nn.Module:
        return nn.Sequential(Halves(), Other(), Halves())

    recipe = recipe_from(nn.Sequential, built, lambda n, maker: (maker.floats((n.rows, 3)),), rows=5)
    run = run_symbolically(recipe)
    said = {
        kind: [c.text() for c in pattern.conditions]
        for kind in (Halves, Other)
        for pattern in patterns(run, f"{kind.__module__}.{kind.__qualname__}")
    }

    assert all("{rows} > 4" in texts for texts in said.values())
