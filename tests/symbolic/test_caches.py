"""Functions with caches see symbolic integers as if they had none."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType

import pytest
import torch

from forwardbook.analyzers.symbolic.bridges import teach_torch
from forwardbook.analyzers.symbolic.caches import caches_apart
from forwardbook.analyzers.symbolic.ledger import Ledger


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A loaded module with a cached function that multiplies."""
    module = ModuleType("library_with_a_cache")
    module.product = functools.lru_cache(lambda shape: shape[0] * shape[1])  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_a_symbol_is_no_number_met_before(library: ModuleType) -> None:
    """A symbol whose hint was met as a number stays a symbol, and nothing is known of it afterwards."""
    teach_torch()
    ledger = Ledger()
    size = ledger.symbol("size", 6)
    assert 12 == library.product((6, 2))

    with caches_apart():
        found = library.product((size, 2))

    assert isinstance(found, torch.SymInt) and 12 == found.node.hint
    assert [] == ledger.guards


def test_numbers_are_still_cached(library: ModuleType) -> None:
    """Where no tensor came out, arguments are looked up; what the cache tells of itself can be asked."""
    with caches_apart():
        for _ in range(3):
            assert 12 == library.product((6, 2))

        assert 1 == library.product.cache_info().hits


def test_tensors_are_computed_in_every_run(library: ModuleType) -> None:
    """What an earlier run left in a cache would cost nothing: a run computes its tensors itself."""
    made: list[int] = []

    @functools.lru_cache
    def ones(size: int) -> torch.Tensor:
        made.append(size)
        return torch.ones(size)

    library.ones = ones  # type: ignore[attr-defined]
    library.ones(3)

    for _ in range(2):
        with caches_apart():
            assert 3 == len(library.ones(3))

    assert [3, 3, 3] == made
    assert 1 == library.ones.cache_info().currsize


def test_caches_within_decorated_methods_are_found(library: ModuleType) -> None:
    """A decorator that keeps a cache to itself hands no symbol of one run to another."""
    teach_torch()

    def remembered(function: Callable[..., object]) -> Callable[..., object]:
        cached = functools.lru_cache(function)
        return lambda *args: cached(*args)

    class Grid:
        @staticmethod
        @remembered
        def side(shape: tuple[int, int]) -> torch.Tensor:
            return torch.empty(shape[0] * shape[1], device="meta")

    Grid.__module__ = library.__name__
    library.Grid = Grid  # type: ignore[attr-defined]
    sys.modules["library_loaded_after"] = ModuleType("library_loaded_after")  # what is loaded is looked over
    try:
        with caches_apart():
            Grid.side((Ledger().symbol("size", 6), 2))  # type: ignore[arg-type]
            found = Grid.side((6, 2))
    finally:
        del sys.modules["library_loaded_after"]

    assert type(found.shape[0]) is int


def test_modules_get_back_what_they_had(library: ModuleType) -> None:
    """Afterwards the module has the very function that it had."""
    before = library.product

    with caches_apart():
        assert library.product is not before

    assert library.product is before
