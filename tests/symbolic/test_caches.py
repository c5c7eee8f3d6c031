"""Functions with caches see symbolic integers as if they had none."""

from __future__ import annotations

import functools
import sys
from types import ModuleType

import pytest
import torch

from forwardbook.analyzers.symbolic.bridges import teach_torch
from forwardbook.analyzers.symbolic.caches import symbols_uncached
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

    with symbols_uncached():
        found = library.product((size, 2))

    assert isinstance(found, torch.SymInt) and 12 == found.node.hint
    assert [] == ledger.guards


def test_numbers_are_still_cached(library: ModuleType) -> None:
    """Arguments without a symbol are looked up; what the cache tells of itself can be asked."""
    with symbols_uncached():
        library.product((6, 2))
        library.product((6, 2))

        assert 1 == library.product.cache_info().hits


def test_modules_get_back_what_they_had(library: ModuleType) -> None:
    """Afterwards the module has the very function that it had."""
    before = library.product

    with symbols_uncached():
        assert library.product is not before

    assert library.product is before
