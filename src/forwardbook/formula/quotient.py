"""Turns two polynomials into their exact quotient, or None when the division leaves a rest."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from forwardbook.formula import atoms
from forwardbook.formula.atoms import Atom, Monomial
from forwardbook.formula.expr import ZERO, Coefficient, Expr
from forwardbook.formula.limits import MAX_DIVISION_WORK

_Vector: TypeAlias = tuple[int, ...]
_Vectors: TypeAlias = dict[_Vector, Coefficient]


def invert(term: Expr) -> Expr:
    """One over an expression of a single term."""
    [(monomial, coefficient)] = term.terms.items()
    return Expr.term(1 / Fraction(coefficient), atoms.raise_power(monomial, -1))


def polynomial_quotient(dividend: Expr, divisor: Expr) -> Expr | None:
    """The polynomial q with q * divisor = dividend; None when there is none within the work limit."""
    if not dividend:
        return ZERO
    if len(divisor.terms) == 1:
        return dividend * invert(divisor)
    above, above_unit = _without_monomial(dividend)
    below, below_unit = _without_monomial(divisor)
    names = sorted(set(above.atoms()) | set(below.atoms()), key=lambda atom: atom.serial)
    if not set(below.atoms()) <= set(above.atoms()):
        return None
    found = _divide(_vectors(above, names), _vectors(below, names))
    if found is None:
        return None
    terms = {atoms.monomial(zip(names, vector, strict=True)): value for vector, value in found.items()}
    scale = Expr.term(1, atoms.multiply(above_unit, atoms.raise_power(below_unit, -1)))
    return Expr.sum(Expr.term(value, monomial) for monomial, value in terms.items()) * scale


def _without_monomial(value: Expr) -> tuple[Expr, Monomial]:
    """The polynomial with the lowest exponent of each atom brought to zero, and what was taken out."""
    lowest: dict[Atom, int] = {}
    for atom in value.atoms():
        lowest[atom] = min(monomial.exponent(atom) for monomial in value.terms)
    unit = atoms.monomial(lowest.items())
    return value * Expr.term(1, atoms.raise_power(unit, -1)), unit


def _vectors(value: Expr, names: list[Atom]) -> _Vectors:
    return {tuple(monomial.exponent(atom) for atom in names): c for monomial, c in value.terms.items()}


def _divide(rest: _Vectors, divisor: _Vectors) -> _Vectors | None:
    lead = max(divisor)
    last = min(divisor)
    if any(a < b for a, b in zip(min(rest), last, strict=True)):
        return None
    quotient: _Vectors = {}
    work = 0
    while rest:
        top = max(rest)
        work += len(rest) + len(divisor)
        shift = tuple(a - b for a, b in zip(top, lead, strict=True))
        if work > MAX_DIVISION_WORK or min(shift) < 0:
            return None
        factor = Fraction(rest[top]) / Fraction(divisor[lead])
        quotient[shift] = factor
        for vector, coefficient in divisor.items():
            place = tuple(a + b for a, b in zip(vector, shift, strict=True))
            left = rest.get(place, 0) - factor * coefficient
            if left:
                rest[place] = left
            else:
                rest.pop(place, None)
    return quotient
