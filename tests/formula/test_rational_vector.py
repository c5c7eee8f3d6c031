"""Exact evaluation over arrays, fractions among the values: each element is the scalar value rounded up."""

from fractions import Fraction
from math import ceil

import numpy
import pytest

from forwardbook.errors import FormulaError
from forwardbook.formula import Expr, parse
from forwardbook.formula.rational import rational_value
from forwardbook.formula.rational_vector import ceilings

FORMULAS = [
    "3 * {b} * {s} * {w} + 5",
    "max({b} * {w}, {s} * {w} - 7, 2)",
    "min({b}, {s}) * {w} // 3",
    "({b} * {s} + {w}) // ({w} + 1)",
    "max({b} * {s} // 2, {s} * {w}) - {b} * {w}",
]


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("width", [Fraction(1, 2), Fraction(3, 8), Fraction(2), Fraction(63, 8)])
def test_each_element_is_the_scalar_value(text: str, width: Fraction) -> None:
    """For every pair of sizes, very large ones among them."""
    b, s = numpy.asarray([1, 2, 7, 10**12]), numpy.asarray([3, 1, 10**15, 10**15])
    found = ceilings(parse(text), {"b": b, "s": s, "w": width})
    expected = [
        ceil(rational_value(parse(text), {"b": int(x), "s": int(y), "w": width}))
        for x, y in zip(b, s, strict=True)
    ]

    assert expected == found.tolist()


def test_quotients_of_symbols() -> None:
    """A symbol below the line, exactly."""
    value = Expr.symbol("s").exact_div(Expr.symbol("w"))
    assert [8, 3] == ceilings(value, {"s": numpy.asarray([3, 1]), "w": Fraction(3, 8)}).tolist()


@pytest.mark.parametrize("text", ["{b} // {s}", "{missing} + {b}"])
def test_what_has_no_value_is_an_error(text: str) -> None:
    """A divisor of zero, a symbol without a value."""
    with pytest.raises(FormulaError):
        ceilings(parse(text), {"b": numpy.asarray([1]), "s": numpy.asarray([0])})
