"""Expressions evaluated together: each value is what the expression alone gives, exactly."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forwardbook.errors import FormulaError
from forwardbook.formula import Expr, parse
from forwardbook.formula.rational import rational_value
from forwardbook.formula.together import Together

FORMULAS = [
    "0",
    "7",
    "{b}",
    "3 * {b} * {s} * {w} + 5",
    "{b} * {s} * {s} - 4 * {b} * {s} * {w} + {w}",
    "max({b} * {w}, {s} * {w} - 7, 2) + min({b}, {s}) * {w} // 3",
    "({b} * {s} + {w}) // ({w} + 1) + {b} * {s}",
    "max({b} * {s} // 2, {s} * min({b}, {w})) - {b} * {w}",
]
SIZES = st.integers(min_value=0, max_value=10**20)
WIDTHS = st.one_of(st.sampled_from([1, 2, 4]), st.fractions(min_value=Fraction(1, 4), max_value=8))


@given(b=SIZES, s=SIZES, w=WIDTHS)
def test_each_is_what_it_is_alone(b: int, s: int, w: int | Fraction) -> None:
    """Shared steps change nothing, and no size is too large."""
    values = {"b": b, "s": s, "w": w}
    expressions = [parse(text) for text in FORMULAS]

    assert [rational_value(one, values) for one in expressions] == Together(expressions).at(values)


def test_exact_quotients() -> None:
    """A symbol below the line, and a fraction as a coefficient."""
    value = Expr.symbol("s").exact_div(Expr.symbol("w") * 3)
    found = Together([value, value * 3]).at({"s": 5, "w": Fraction(1, 2)})

    assert [Fraction(10, 3), 10] == found


@pytest.mark.parametrize("values", [{"b": 1}, {"b": 1, "s": 0}])
def test_what_has_no_value_is_an_error(values: dict[str, int]) -> None:
    """A symbol without a value and a divisor of zero, below a floor and in an exact quotient."""
    for value in (parse("{b} // {s}"), Expr.symbol("b").exact_div(Expr.symbol("s"))):
        with pytest.raises(FormulaError):
            Together([value]).at(values)
