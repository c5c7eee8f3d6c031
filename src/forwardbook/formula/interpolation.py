"""Turns values at integer points into the polynomial through them, confirmed by points held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from forwardbook.formula.alignment import aligned
from forwardbook.formula.atoms import UNIT
from forwardbook.formula.expr import ONE, ZERO, Expr


def interpolate(
    name: str, points: Mapping[int, Expr], max_degree: int, held_out: int = 1
) -> Expr | None:
    """The polynomial of lowest degree that all points beyond those that define it confirm; else None.

    As many as are `held_out` define none: with 0, something else has to confirm what is returned.
    A value that itself contains the symbol is taken at its point, so the other coefficients are free of it.
    Rounded divisions, minima and maxima in which the size became a number are fitted part by part.
    """
    places = sorted(points)
    values = [points[place].subs({name: place}) for place in places]
    if len(places) < 2:
        return None
    degree = min(max_degree, len(places) - 1 - held_out)
    if held_out:
        direct = _polynomial(name, places, values, degree)
        return _with_opaque(name, places, values, degree, held_out) if direct is None else direct
    fitted = _with_opaque(name, places, values, degree, held_out)  # first: a polynomial always passes through
    return _polynomial(name, places, values, degree) if fitted is None else fitted


def _with_opaque(
    name: str, places: list[int], values: list[Expr], degree: int, held_out: int
) -> Expr | None:
    """The expression whose varying opaque terms were fitted by their parts, confirmed at every point."""

    def fit(parts: Sequence[Expr]) -> Expr | None:
        return interpolate(name, dict(zip(places, parts, strict=True)), degree, held_out)

    terms = aligned(values, fit)
    if terms is None:
        return None
    whole = _polynomial(name, places, list(terms.values), degree)
    if whole is None:
        return None
    whole = whole.subs(terms.terms)
    held = all(whole.subs({name: x}) == value for x, value in zip(places, values, strict=True))
    return whole if held else None


def _polynomial(name: str, places: list[int], values: list[Expr], max_degree: int) -> Expr | None:
    table = _divided_differences(places, values, max_degree + 1)
    for degree in range(max_degree + 1):
        found = table[: degree + 1]
        if all(
            _newton(found, places, Expr.const(place)) == value
            for place, value in zip(places[degree + 1 :], values[degree + 1 :], strict=True)
        ):
            return _newton(found, places, Expr.symbol(name))
    return None


def _divided_differences(places: list[int], values: list[Expr], count: int) -> list[Expr]:
    """Newton's coefficients of the polynomial through the first `count` points."""
    column = values[:count]
    table = [column[0]]
    for order in range(1, count):
        column = [
            (column[i + 1] - column[i]) * Expr.term(Fraction(1, places[i + order] - places[i]), UNIT)
            for i in range(len(column) - 1)
        ]
        table.append(column[0])
    return table


def _newton(coefficients: list[Expr], places: list[int], at: Expr) -> Expr:
    total, product = ZERO, ONE
    for coefficient, place in zip(coefficients, places, strict=False):
        total = total + coefficient * product
        product = product * (at - place)
    return total
