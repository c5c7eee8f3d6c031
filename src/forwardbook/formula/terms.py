"""Turns coefficients by monomial into those of sums and products: the inner loops of the algebra."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from forwardbook.errors import FormulaError
from forwardbook.formula import atoms
from forwardbook.formula.atoms import Monomial
from forwardbook.formula.limits import MAX_COEFFICIENT, MAX_DIGITS, MAX_PRODUCTS, MAX_TERMS
from forwardbook.formula.work import spend

Coefficient: TypeAlias = int | Fraction
Terms: TypeAlias = dict[Monomial, Coefficient]


def reduced(coefficient: Coefficient) -> Coefficient:
    """The coefficient as `int` when it is an integer."""
    return coefficient.numerator if coefficient.denominator == 1 else coefficient


def accumulate(total: Terms, terms: Mapping[Monomial, Coefficient]) -> None:
    """Adds terms to a total that the caller owns, within the limit of its size."""
    spend(2 + len(terms) // 2)
    for monomial, coefficient in terms.items():
        present = total.get(monomial)
        if present is None:
            total[monomial] = coefficient
            continue
        added = present + coefficient
        if not added:
            del total[monomial]
        else:
            total[monomial] = added if type(added) is int else reduced(added)
    check_size(total)


def product(left: Mapping[Monomial, Coefficient], right: Mapping[Monomial, Coefficient]) -> Terms:
    """The terms of the product."""
    if len(left) < len(right):
        left, right = right, left
    if not right:
        return {}
    if len(left) * len(right) > MAX_PRODUCTS:
        raise FormulaError(f"a product of {len(left)} by {len(right)} terms: the limit is {MAX_PRODUCTS}")
    # a product that was not made before takes as long as it has factors
    spend(8 + len(left) * len(right) * (24 + 4 * (_factors(left) + _factors(right))))
    total: Terms = {}
    exact = True
    for own, factor in right.items():
        row = atoms.product_row(own)
        for other, coefficient in left.items():
            monomial = row.get(other) or atoms.multiply(own, other)
            value = factor * coefficient
            present = total.get(monomial)
            if present is not None:
                value = present + value
            exact = exact and type(value) is int
            total[monomial] = value
    if len(right) > 1 or not exact:
        total = {m: c if type(c) is int else reduced(c) for m, c in total.items() if c}
    if total:
        _check_digits(total)
    check_size(total)
    return total


def _factors(terms: Mapping[Monomial, Coefficient]) -> int:
    """The factors of the first term: those of a product of sums have about as many each."""
    return len(next(iter(terms)).powers)


def check_size(terms: Terms) -> None:
    """Refuses more terms than one expression may have."""
    if len(terms) > MAX_TERMS:
        raise FormulaError(f"an expression of {len(terms)} terms exceeds the limit of {MAX_TERMS}")


def _check_digits(terms: Terms) -> None:
    """Refuses coefficients that only products grow so large."""
    largest = max(max(terms.values()), -min(terms.values()))
    finest = max(coefficient.denominator for coefficient in terms.values())
    if len(terms) > 1 or largest > 1:
        spend(len(terms) * (int(largest * finest).bit_length() >> 8))
    if max(largest, finest) > MAX_COEFFICIENT:
        raise FormulaError(f"a coefficient has more than {MAX_DIGITS} digits")
