"""The root of a square is an expression again; of what is no square there is none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.formula import Expr, parse

A, B = Expr.symbol("a"), Expr.symbol("b")
terms = st.tuples(st.integers(-6, 6), st.integers(0, 2), st.integers(0, 2))
polynomials = st.lists(terms, min_size=1, max_size=4).map(
    lambda parts: Expr.sum(A**p * B**q * c for c, p, q in parts)
)


@settings(deadline=None)
@given(polynomials)
def test_the_root_of_a_square_is_what_was_squared(value: Expr) -> None:
    """The square root of p * p is p or its negative, for every polynomial p."""
    assert (value * value).square_root() in (value, -value)


@settings(deadline=None)
@given(polynomials)
def test_a_root_squared_is_the_value(value: Expr) -> None:
    """Where a root is found, its square is the value: nothing else is called a root."""
    root = value.square_root()

    assert root is None or root * root == value


@pytest.mark.parametrize(
    "text", ["{a}", "2 * {a} * {a}", "{a} * {a} + {b} * {b}", "-{a} * {a}", "{a} * {a} + 2 * {a}", "-4"]
)
def test_what_is_no_square_has_no_root(text: str) -> None:
    """An odd power, a number that is no square, a sum of two squares, and a negative have none."""
    assert parse(text).square_root() is None


def test_sides_of_images_are_roots() -> None:
    """A grid of patches, with floors and ratios, has the side of the grid for its root."""
    side = parse("floor({a} / {b})")

    assert side == (side * side).square_root()
    assert A.exact_div(B * 2) == (A * A).exact_div(B * B * 4).square_root()
    assert not Expr.const(0).square_root()
