"""An expression made into functions has the values, and the refusals, of one that is walked term by term."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.errors import FormulaError
from forwardbook.formula import Expr, parse
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol

from .growing import expressions

NAMES = ("a", "b", "c", "kv_len")
points = st.dictionaries(st.sampled_from(NAMES), st.integers(-1, 9), min_size=len(NAMES) - 1)
grown = expressions(NAMES, 12)


def walked(value: Expr, point: dict[str, int]) -> int:
    """The value by walking the terms; ValueError with what is wrong at the first place that has none."""
    numerator, denominator = value.fraction()
    above, below = _sum(numerator, point), _sum(denominator, point)
    if below == 0:
        raise ValueError("division by zero")
    if above % below:
        raise ValueError("divisibility")
    return above // below


def _sum(value: Expr, point: dict[str, int]) -> int:
    total = Fraction(0)
    for monomial, coefficient in value.terms.items():
        product = Fraction(coefficient)
        for atom, power in monomial.powers:
            product *= _size(atom, point) ** power
        total += product
    return int(total)


def _size(atom: Atom, point: dict[str, int]) -> int:
    match atom:
        case Symbol():
            if atom.name not in point:
                raise ValueError(f"no value for {{{atom.name}}}")
            if point[atom.name] < 0:
                raise ValueError(f"the value of {{{atom.name}}} must be at least 0")
            return point[atom.name]
        case Floor():
            below = walked(atom.denominator, point)
            above = walked(atom.numerator, point)
            if below == 0:
                raise ValueError("division by zero")
            return above // below
        case Extreme():
            sizes = [walked(argument, point) for argument in atom.arguments]
            return max(sizes) if atom.largest else min(sizes)
    raise AssertionError(atom)


@settings(max_examples=400, deadline=None)
@given(grown, st.lists(points, min_size=1, max_size=4))
def test_values_and_refusals_are_those_of_a_walk(value: Expr, assignments: list[dict[str, int]]) -> None:
    """At every assignment, missing and negative sizes too, both have one value or refuse the same thing."""
    for point in assignments:
        try:
            expected = walked(value, point)
        except ValueError as refused:
            with pytest.raises(FormulaError) as raised:
                value.evaluate(point)
            assert str(refused) in str(raised.value)
        else:
            assert expected == value.evaluate(point)


def test_deep_nesting_that_is_shared_ends() -> None:
    """Rounded quotients that each occur twice in the next are found once each, not 2 ** 30 times."""
    value = Expr.symbol("a")
    for _ in range(30):
        value = (value * value + value + 1).floordiv(2 + Expr.symbol("b")).mod(Expr.symbol("c") + 7)

    assert 0 <= value.evaluate({"a": 5, "b": 3, "c": 4}) < 11


@pytest.mark.parametrize(
    "given_value, said",
    [(-1, "must be at least 0"), (1.5, "must be an integer"), ("2", "must be an integer")],
)
def test_a_value_that_is_no_size_is_refused(given_value: object, said: str) -> None:
    """Negative numbers, fractions and texts stand for no size."""
    with pytest.raises(FormulaError, match=said):
        parse("{a} + 1").evaluate({"a": given_value})  # type: ignore[dict-item]


def test_a_truth_value_counts_as_a_number() -> None:
    """Whatever Python takes as an index is a size."""
    assert 4 == parse("{a} + 3").evaluate({"a": True})
