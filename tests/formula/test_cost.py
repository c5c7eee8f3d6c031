"""Costs add up amount by amount, on integers and on expressions."""

import pytest

from forwardbook.cost import Cost
from forwardbook.formula import Expr


def test_costs_add() -> None:
    """The sum of two costs is the sum of each amount."""
    size = Expr.symbol("n")
    assert Cost(2 * size, 1, size + 3, 4) == Cost(size, 1, 3, 4) + Cost(size, 0, size, 0)
    assert Cost(3, 3, 0, 0) == Cost.total([Cost(1, 2), Cost(2, 1)])
    assert Cost.zero() == Cost.total([])


def test_costs_add_only_costs() -> None:
    """A number is no cost."""
    with pytest.raises(TypeError):
        Cost() + 1  # type: ignore[operator]
