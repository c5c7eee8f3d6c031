"""Turns an expression that is a square into its square root, or None where it is no square."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from forwardbook.formula import atoms
from forwardbook.formula.atoms import Atom, Monomial
from forwardbook.formula.expr import ZERO, Expr
from forwardbook.formula.quotient import term_quotient

MAX_TERMS = 64  # of a square that is looked into: sizes are sums of a few products


def square_root(value: Expr) -> Expr | None:
    """The expression whose square is `value`, of either sign; None when there is none."""
    if not value:
        return ZERO
    if len(value.terms) > MAX_TERMS:
        return None
    names = sorted(value.atoms(), key=lambda atom: atom.serial)
    first = _root_of_term(_leading(value, names))
    if first is None:
        return None
    root = first
    for _ in value.terms:
        rest = value - root * root
        if not rest:
            return root
        # the largest term of what is left is twice the first term of the root times its next one
        root = root + term_quotient(_leading(rest, names), first * 2)
    return None


def _leading(value: Expr, names: list[Atom]) -> Expr:
    """The term that comes first in the order of exponents, atom by atom."""
    monomial = max(value.terms, key=lambda one: [one.exponent(atom) for atom in names])
    return Expr({monomial: value.terms[monomial]})


def _root_of_term(term: Expr) -> Expr | None:
    [(monomial, number)] = term.terms.items()
    ratio = Fraction(number)
    above, below = isqrt(max(ratio.numerator, 0)), isqrt(ratio.denominator)
    root = _halved(monomial)
    if root is None or (above * above, below * below) != (ratio.numerator, ratio.denominator):
        return None
    return Expr.term(above, root).exact_div(below)


def _halved(monomial: Monomial) -> Monomial | None:
    powers = [(atom, monomial.exponent(atom)) for atom in Expr.term(1, monomial).atoms()]
    if any(power % 2 for _, power in powers):
        return None
    return atoms.monomial((atom, power // 2) for atom, power in powers)
