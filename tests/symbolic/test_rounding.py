"""What algebra says of a fraction and floats do not is no formula."""

from __future__ import annotations

import math

import pytest
import torch

from forwardbook.analyzers.symbolic.expressions import Expressions
from forwardbook.analyzers.symbolic.ledger import Ledger
from forwardbook.formula import Expr


def expressed(hint: int, fraction: str) -> tuple[Expr, list[str]]:
    """The expression of a fraction of a size, rounded up, and what it takes for granted."""
    ledger = Ledger()
    ledger.running = True
    expressions = Expressions(ledger)
    size = ledger.symbol("size", hint)
    ways = {"inverse": lambda n: (1.0 - 1 / n) / (1 / n), "ratio": lambda n: 6 * n / 3}
    found = expressions.of(math.ceil(ways[fraction](size)))
    return found, [c.text() for c in expressions.divisions]


@pytest.mark.parametrize("hint", [5, 7])
def test_steps_of_one_nth_are_counted_for_this_number_only(hint: int) -> None:
    """Floats count n - 1 of them for 5, and n for 7, where (1 - 1 / 7) / (1 / 7) is a little more than 6."""
    counted = torch.arange(1 / hint, 1.0, 1 / hint).numel()

    assert (Expr.const(counted), [f"{{size}} == {hint}"]) == expressed(hint, "inverse")


def test_one_quotient_of_integers_is_a_formula() -> None:
    """It is rounded once, and to what it is by algebra where that is a whole number."""
    assert (Expr.symbol("size") * 2, []) == expressed(5, "ratio")


def test_a_fraction_of_a_fraction_is_asked_of_the_float_itself() -> None:
    """The number of such steps is that of torch for every size."""
    differ = [n for n in range(2, 64) if torch.arange(1 / n, 1.0, 1 / n).numel() != n - 1]

    assert [3, 6, 7, 14, 19, 24, 27, 28, 54, 63] == differ
    assert all(expressed(n, "inverse")[0].const_value() == n for n in differ)
