"""A value that no formula has is its number only where the sizes behind it give no other."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index

import pytest
import torch

from forwardbook.analyzers.symbolic.bridges import teach_torch
from forwardbook.analyzers.symbolic.expressions import Expressions
from forwardbook.analyzers.symbolic.followed import numbers_followed
from forwardbook.analyzers.symbolic.ledger import Ledger
from forwardbook.formula import Condition, Expr

Numbers = Callable[[int, int], object]


class Run:
    """A ledger with two sizes, and what was computed of them as analysed code computes."""

    def __init__(self, compute: Numbers, length: int, width: int = 3) -> None:
        teach_torch()
        self.ledger = Ledger()
        self.ledger.running = True
        self.expressions = Expressions(self.ledger)
        with numbers_followed():
            symbols = (self.ledger.symbol("length", length), self.ledger.symbol("width", width))
            self.value = compute(*symbols)  # type: ignore[arg-type]

    def size(self) -> Expr:
        """The value as a size."""
        return self.expressions.of(torch.sym_int(self.value))

    def said(self) -> list[str]:
        """Under what conditions."""
        return [c.text() for c in self.expressions.divisions if not c.is_trivially_true()]


STEPS: list[tuple[Numbers, int, list[str]]] = [
    (lambda n, w: math.log2(n), 8, ["{length} >= 8", "{length} <= 15"]),
    (lambda n, w: n**0.5, 50, ["{length} >= 49", "{length} <= 63"]),
    (lambda n, w: math.sqrt(n), 50, ["{length} >= 49", "{length} <= 63"]),
    (lambda n, w: math.log(n, 10), 42, ["{length} >= 10", "{length} <= 99"]),
    (lambda n, w: math.log2(n * w), 8, ["{length} * {width} >= 16", "{length} * {width} <= 31"]),
    (lambda n, w: math.log2(n) / w, 8, ["{length} == 8", "{width} == 3"]),
    (lambda n, w: math.cos(n), 8, ["{length} == 8"]),
]


@pytest.mark.parametrize(("compute", "length", "said"), STEPS)
def test_where_a_number_stays_what_it_was(compute: Numbers, length: int, said: list[str]) -> None:
    """A whole number without a formula is said to hold between the sizes that give no other."""
    run = Run(compute, length)

    assert run.size().is_const
    assert said == run.said()


@pytest.mark.parametrize(("compute", "length", "said"), STEPS[:5])
def test_conditions_are_no_wider_than_python_says(compute: Numbers, length: int, said: list[str]) -> None:
    """Wherever they hold, up to a thousand, Python computes the same number."""
    run = Run(compute, length)
    size = run.size()
    conditions = [Condition.parse(text) for text in run.said()]
    held = [n for n in range(1, 1000) if all(c.holds({"length": n, "width": 3}) for c in conditions)]

    assert length in held
    assert {size.evaluate({"length": n, "width": 3}) for n in held} >= {int(compute(length, 3))}  # type: ignore[call-overload]
    assert all(int(compute(n, 3)) == size.evaluate({"length": n, "width": 3}) for n in held)  # type: ignore[call-overload]


def test_the_side_of_a_square_needs_no_number() -> None:
    """int((n * n) ** 0.5) is n, whatever n is."""
    run = Run(lambda n, w: (n * w * n * w) ** 0.5, 7)

    assert Expr.symbol("length") * Expr.symbol("width") == run.size()
    assert [] == run.said()


def test_a_comparison_without_a_formula_is_said_of_the_sizes_behind_it() -> None:
    """`log2(n) > 2.5` holds from 6 on; before, such a comparison was not among the conditions."""
    run = Run(lambda n, w: bool(math.log2(n) > 2.5), 20)

    assert ["{length} >= 6"] == [c.text() for c in run.expressions.conditions(run.ledger.guards)]


def test_a_comparison_of_several_sizes_without_a_formula_stays_at_these_very_sizes() -> None:
    """Sizes beside them may be answered alike: the equalities are among those that no single run lifts."""
    run = Run(lambda n, w: bool(math.log2(n) / w > 0.5), 20)
    said = [c.text() for c in run.expressions.conditions(run.ledger.guards)]

    assert ["{length} == 20", "{width} == 3"] == said
    assert said == [c.text() for c in run.expressions.all_steady()]


def test_a_number_behind_a_comparison_is_said_with_it() -> None:
    """`int(log2(n)) < width` is said of the width, and of where the logarithm is what it was."""
    run = Run(lambda n, w: bool(torch.sym_int(math.log2(n)) < w + 1), 8)
    said = [c.text() for c in run.expressions.conditions(run.ledger.guards)]

    assert ["{length} >= 8", "{length} <= 15", "3 < {width} + 1"] == said


def test_symbols_behind_a_number_without_a_formula_are_known() -> None:
    """What a value hangs on is known though it has no formula: it may be a factor of sizes."""
    run = Run(lambda n, w: math.log(n) / w, 9)

    assert {"length", "width"} == run.expressions.symbols(run.value.node)  # type: ignore[attr-defined]


def test_a_number_that_exact_divisions_leave_needs_them() -> None:
    """`int(ceil(n / w) / (n / (2 * w)))` is 2 where w divides n, and more beside that."""
    run = Run(lambda n, w: index(int(math.ceil(n / w) / (n / (2 * w)))), 12)
    [asked] = [one.node for one in run.ledger.consumed]

    assert 2 == run.value
    assert ["{length} % {width} == 0"] == [c.text() for c in run.expressions.needed(asked)]
    assert 3 == int(math.ceil(4 / 3) / (4 / (2 * 3)))


def test_a_number_of_which_a_formula_is_known_needs_nothing() -> None:
    """What becomes of it as a number is asked elsewhere, by its sizes."""
    run = Run(lambda n, w: index(n + w), 12)

    assert [[]] == [run.expressions.needed(one.node) for one in run.ledger.consumed]


def test_math_is_python_s_own_again() -> None:
    """Outside an analysis the functions of math are those of Python."""
    before = math.sqrt, math.log2
    Run(lambda n, w: n, 9)

    assert before == (math.sqrt, math.log2)
    assert isinstance(math.sqrt(9), float)
