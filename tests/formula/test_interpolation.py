"""Polynomials through points, with minima, maxima and rounded divisions in which the size became a number."""

from __future__ import annotations

import pytest

from forwardbook.formula import Expr, parse

WHOLE = [
    "{n} * {n} * {h} + 3 * {n}",
    "min({n} * {b} * {h}, {h} * {v}) + {n} * {b}",
    "{n} * max({n} * {b}, {k} + 1) - 7",
    "{b} * (({n} * {s} + 3) // {k}) + min({n}, {v})",
    "max({n} * {b}, {n} * {n} * {k} + 2, {v})",
    "0 * {n}",
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_size_is_recovered_from_its_values(text: str) -> None:
    """Four points, one or two of them held out, give back the expression they were taken from."""
    whole = parse(text)
    points = {x: whole.subs({"n": x}) for x in (5, 6, 7, 8)}
    assert whole == Expr.interpolate("n", points, 2)


def test_a_term_that_is_no_polynomial_in_the_size_is_refused() -> None:
    """A minimum whose argument doubles at every point has no polynomial of degree two."""
    points = {x: parse(f"min({2**x} * {{b}}, {{v}})") for x in (2, 3, 4, 5)}
    assert Expr.interpolate("n", points, 2) is None


def test_different_terms_at_different_points_are_refused() -> None:
    """A minimum at one point and none at the next is no one formula."""
    points = {x: parse("min({b}, {v})" if x < 4 else "{b}") for x in (2, 3, 4, 5)}
    assert Expr.interpolate("n", points, 2) is None


def test_two_points_give_a_line_where_something_else_confirms_it() -> None:
    """With none held out two values make a straight line; with one held out, a constant or nothing."""
    whole = parse("{n} * {b} + min({n} * {h}, {v})")
    points = {x: whole.subs({"n": x}) for x in (2, 4)}

    assert whole == Expr.interpolate("n", points, 2, held_out=0)
    assert Expr.interpolate("n", points, 2) is None
