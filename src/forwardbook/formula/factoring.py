"""Turns a polynomial without common monomial into the sums whose product it is, if that is cheap to see."""

from __future__ import annotations

from collections import defaultdict

from forwardbook.formula import atoms
from forwardbook.formula.atoms import Atom, Monomial, Symbol
from forwardbook.formula.expr import ONE, Expr
from forwardbook.formula.quotient import polynomial_quotient, term_quotient
from forwardbook.formula.terms import Coefficient

_MAX_FACTORED_TERMS = 200  # a longer sum is printed as it stands


def factors(value: Expr) -> list[Expr]:
    """Two or more sums whose product is the value, or the value alone."""
    if len(value.terms) <= 2 or len(value.terms) > _MAX_FACTORED_TERMS:
        return _by_successors(value)
    for atom in sorted(value.atoms(), key=lambda own: own.key):
        shared = _shared_coefficient(value, atom)
        if shared is not None:
            rest = polynomial_quotient(value, shared)
            if rest is not None and rest.is_whole and not rest.is_const:
                return factors(rest) + factors(shared)
    return _by_successors(value)


def _shared_coefficient(value: Expr, atom: Atom) -> Expr | None:
    """The sum that the coefficients of all powers of the atom have in common, each by one term, if any."""
    by_power: dict[int, dict[Monomial, Coefficient]] = defaultdict(dict)
    for monomial, coefficient in value.terms.items():
        power = monomial.exponent(atom)
        by_power[power][atoms.multiply(monomial, atoms.monomial(((atom, -power),)))] = coefficient
    sizes = {len(terms) for terms in by_power.values()}
    if len(by_power) < 2 or len(sizes) > 1 or sizes == {1}:
        return None
    sums = {_primitive(Expr(dict(terms))) for terms in by_power.values()}
    return sums.pop() if len(sums) == 1 else None


def _primitive(value: Expr) -> Expr:
    """The sum without its common factor, the sign of its leading term positive."""
    number, shared = value.content()
    lead = max(value.terms, key=lambda own: [(atom.serial, power) for atom, power in own.powers])
    sign = -1 if value.terms[lead] < 0 else 1
    return term_quotient(value, Expr.term(number * sign, shared))


def _by_successors(value: Expr) -> list[Expr]:
    """Powers of (atom + 1) taken out: sizes of windows and convolutions are a rounded quotient plus one."""
    found: list[Expr] = []
    for atom in value.atoms():
        if isinstance(atom, Symbol) or len(value.terms) <= 2:
            continue
        successor = Expr.atom(atom) + 1
        rest = polynomial_quotient(value, successor)
        while rest is not None and rest.is_whole:
            found.append(successor)
            value = rest
            rest = polynomial_quotient(value, successor) if len(value.terms) > 1 else None
    if value == ONE and found:
        return found
    if len(value.terms) == 1 and found:
        return [*found, value]
    return [value, *found]
