"""Turns an expression and replacements for its symbols into the expression after replacement."""

from __future__ import annotations

from collections.abc import Mapping

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol
from forwardbook.formula.expr import ONE, Expr


def substitute(value: Expr, values: Mapping[str, Expr]) -> Expr:
    """All symbols replaced at once; an exact division whose divisor becomes a stubborn sum rounds down.

    Where the recorded divisibility holds the two divisions agree.
    """
    if value.symbols().isdisjoint(values):
        return value
    return _replaced(value, values, {})


def _replaced(value: Expr, values: Mapping[str, Expr], known: dict[Atom, Expr]) -> Expr:
    if value.symbols().isdisjoint(values):
        return value
    numerator, denominator = value.fraction()
    above = _whole_replaced(numerator, values, known)
    if denominator is ONE:
        return above
    below = _whole_replaced(denominator, values, known)
    try:
        return above.exact_div(below)
    except FormulaError:
        return above.floordiv(below)


def _whole_replaced(value: Expr, values: Mapping[str, Expr], known: dict[Atom, Expr]) -> Expr:
    parts = []
    for monomial, coefficient in value.terms.items():
        product = Expr.const(int(coefficient))
        for atom, power in monomial.powers:
            if atom not in known:
                known[atom] = _atom_replaced(atom, values, known)
            product = product * known[atom] ** power
        parts.append(product)
    return Expr.sum(parts)


def _atom_replaced(atom: Atom, values: Mapping[str, Expr], known: dict[Atom, Expr]) -> Expr:
    match atom:
        case Symbol():
            return values.get(atom.name, Expr.atom(atom))
        case Floor():
            above = _replaced(atom.numerator, values, known)
            return above.floordiv(_replaced(atom.denominator, values, known))
        case Extreme():
            arguments = [_replaced(argument, values, known) for argument in atom.arguments]
            return Expr.maximum(*arguments) if atom.largest else Expr.minimum(*arguments)
    raise FormulaError(f"{atom.key} cannot be replaced")
