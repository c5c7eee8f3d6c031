"""What these tests share: a module, run on plain integers or symbolically, and what its call cost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import Pattern, calls_of, patterns
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_measured, run_symbolically
from forwardbook.analyzers.symbolic.storages import Widths
from forwardbook.analyzers.symbolic.summary import Summary, summarise
from forwardbook.analyzers.symbolic.trace import Trace

FOUR = Widths(4, 4, 4)


@pytest.fixture
def trace_of() -> Callable[..., Trace]:
    """What a run in float32 on plain integers leaves behind."""

    def run(recipe: Recipe, **sizes: int) -> Trace:
        return run_measured(recipe, sizes, torch.float32, FOUR)[0]

    return run


@pytest.fixture
def measured(trace_of: Callable[..., Trace]) -> Callable[..., Summary]:
    """What the call of the recipe's class costs in such a run."""

    def run(recipe: Recipe, **sizes: int) -> Summary:
        trace = trace_of(recipe, **sizes)
        return summarise(trace, calls_of(trace, recipe.calls_as)[0], {})

    return run


@pytest.fixture
def symbolic() -> Callable[..., Pattern]:
    """The first call pattern of the recipe's class in a symbolic run."""

    def run(recipe: Recipe, **pinned: int) -> Pattern:
        found: SymbolicRun = run_symbolically(recipe, pinned=pinned)
        return patterns(found, recipe.calls_as)[0]

    return run
