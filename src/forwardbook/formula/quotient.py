"""Turns two polynomials into their exact quotient, or None when the division leaves a rest."""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import TypeAlias

from forwardbook.formula import atoms
from forwardbook.formula.atoms import Atom, Monomial
from forwardbook.formula.expr import ZERO, Expr
from forwardbook.formula.limits import MAX_DIVISION_WORK
from forwardbook.formula.terms import Coefficient
from forwardbook.formula.work import spend

_Vector: TypeAlias = tuple[int, ...]
_Vectors: TypeAlias = dict[_Vector, Coefficient]


def term_quotient(dividend: Expr, divisor: Expr) -> Expr:
    """The exact quotient by an expression of a single term."""
    [(monomial, number)] = divisor.terms.items()
    inverse = atoms.raise_power(monomial, -1)
    spend(4 + len(dividend.terms) * (4 + len(monomial.powers)))
    return Expr({atoms.multiply(own, inverse): _ratio(c, number) for own, c in dividend.terms.items()})


def _ratio(above: Coefficient, below: Coefficient) -> Coefficient:
    if type(above) is int and type(below) is int and above % below == 0:
        return above // below
    ratio = Fraction(above) / Fraction(below)
    return ratio.numerator if ratio.denominator == 1 else ratio


def polynomial_quotient(dividend: Expr, divisor: Expr) -> Expr | None:
    """The polynomial q with q * divisor = dividend; None when there is none within the work limit."""
    if not dividend:
        return ZERO
    if len(divisor.terms) == 1:
        return term_quotient(dividend, divisor)
    above, above_unit = _without_monomial(dividend)
    below, below_unit = _without_monomial(divisor)
    names = sorted(set(above.atoms()) | set(below.atoms()), key=lambda atom: atom.key)
    spend((4 + len(names)) * (len(above.terms) + len(below.terms)))
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
    return term_quotient(value, Expr.term(1, unit)), unit


def _vectors(value: Expr, names: list[Atom]) -> _Vectors:
    return {tuple(monomial.exponent(atom) for atom in names): c for monomial, c in value.terms.items()}


def _divide(rest: _Vectors, divisor: _Vectors) -> _Vectors | None:
    lead = max(divisor)
    last = min(divisor)
    if any(a < b for a, b in zip(min(rest), last, strict=True)):
        return None
    quotient: _Vectors = {}
    # the largest vector first: a heap of negated vectors, some of them cancelled meanwhile
    waiting = [_negated(vector) for vector in rest]
    heapq.heapify(waiting)
    work = 0
    while waiting:
        top = _negated(heapq.heappop(waiting))
        if top not in rest:
            continue
        work += len(divisor)
        shift = tuple(a - b for a, b in zip(top, lead, strict=True))
        if work > MAX_DIVISION_WORK or min(shift) < 0:
            return None
        factor = _ratio(rest[top], divisor[lead])
        spend(len(divisor) * (6 + len(lead) + (factor.numerator * factor.denominator).bit_length() // 8))
        quotient[shift] = factor
        for vector, coefficient in divisor.items():
            place = tuple(a + b for a, b in zip(vector, shift, strict=True))
            before = rest.get(place)
            left = (before or 0) - factor * coefficient
            if before is None:
                heapq.heappush(waiting, _negated(place))
            if left:
                rest[place] = left
            else:
                del rest[place]
    return quotient


def _negated(vector: _Vector) -> _Vector:
    return tuple(-power for power in vector)
