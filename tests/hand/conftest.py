"""What the hand-written formulas are held against: the symbolic costs of a class, each model run once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_symbolically
from forwardbook.formula import Expr
from forwardbook.pipeline.derivation.regimes import derive, run_first


@dataclass(frozen=True)
class Costs:
    """Every quantity of one call as an expression."""

    flops: Expr
    pointwise_ops: Expr
    reads: Expr
    writes: Expr
    weights: Expr
    boundary: Expr
    intermediates: Expr
    peak: Expr


Ask = Callable[..., Costs]


def costs(pattern: Pattern) -> Costs:
    return Costs(**{name: Expr.of(size) for name, size in pattern.summary.quantities().items()})


@cache
def recipe_of(target: str, scenario: str) -> Recipe:
    return next(recipe for recipe in recipes_for(target) if recipe.scenario == scenario)


@cache
def run_of(holder: str, scenario: str) -> SymbolicRun:
    """The symbolic run in fp32 of the model (or module) that a recipe builds."""
    return run_first(recipe_of(holder, scenario), torch.float32)[1]


@pytest.fixture(scope="session")
def ours() -> Ask:
    """The costs of the first call pattern of `target` in the model of `holder` (its own by default)."""

    def ask(target: str, scenario: str = "default", holder: str = "") -> Costs:
        called = target if holder else recipe_of(target, scenario).calls_as
        return costs(patterns(run_of(holder or target, scenario), called)[0])

    return ask


@pytest.fixture(scope="session")
def with_loops() -> Ask:
    """The costs of a class whose forward() loops over a size: derived by interpolation, and proved."""

    @cache
    def ask(target: str, scenario: str = "default") -> Costs:
        recipe = recipe_of(target, scenario)
        found = derive(recipe, torch.float32, [recipe.calls_as], seed=1)[0]
        assert found.exact, found.proof.differences or found.proof.reason
        return costs(found.pattern)

    return ask


@pytest.fixture(scope="session")
def pinned() -> Ask:
    """The costs where some sizes are numbers."""

    def ask(target: str, numbers: dict[str, int], scenario: str = "default") -> Costs:
        recipe = recipe_of(target, scenario)
        run = run_symbolically(recipe, torch.float32, pinned=numbers)
        return costs(patterns(run, recipe.calls_as)[0])

    return ask
