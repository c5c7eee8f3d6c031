"""Turns an expression and a value for each symbol into one exact integer."""

from __future__ import annotations

import operator
from collections.abc import Mapping

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol
from forwardbook.formula.expr import ONE, Expr
from forwardbook.formula.printing import brief


def evaluate(value: Expr, values: Mapping[str, int]) -> int:
    """The value at one assignment; every step is an integer or the evaluation fails."""
    return _value(value, values, {})


def _value(value: Expr, values: Mapping[str, int], known: dict[Atom, int]) -> int:
    numerator, denominator = value.fraction()
    total = _whole_value(numerator, values, known)
    if denominator is ONE:
        return total
    divisor = _whole_value(denominator, values, known)
    quotient, remainder = divmod(total, _nonzero(divisor, denominator))
    if remainder:
        raise FormulaError(
            f"a divisibility condition is violated: {brief(numerator)} = {total} is no multiple of "
            f"{brief(denominator)} = {divisor}"
        )
    return quotient


def _whole_value(value: Expr, values: Mapping[str, int], known: dict[Atom, int]) -> int:
    total = 0
    for monomial, coefficient in value.terms.items():
        product = int(coefficient)
        for atom, power in monomial.powers:
            size = known.get(atom)
            if size is None:
                size = known[atom] = _atom_value(atom, values, known)
            product *= size if power == 1 else size**power
        total += product
    return total


def _atom_value(atom: Atom, values: Mapping[str, int], known: dict[Atom, int]) -> int:
    match atom:
        case Symbol():
            return symbol_value(atom.name, values)
        case Floor():
            divisor = _value(atom.denominator, values, known)
            return _value(atom.numerator, values, known) // _nonzero(divisor, atom.denominator)
        case Extreme():
            found = [_value(argument, values, known) for argument in atom.arguments]
            return max(found) if atom.largest else min(found)
    raise FormulaError(f"{atom.key} has no value")


def symbol_value(name: str, values: Mapping[str, int]) -> int:
    """The integer given for a symbol; FormulaError when it is missing, negative or no integer."""
    if name not in values:
        given = ", ".join(sorted(values)[:20]) or "nothing"
        raise FormulaError(f"no value for {{{name}}}; values were given for {given}")
    try:
        size = operator.index(values[name])
    except TypeError:
        raise FormulaError(f"the value of {{{name}}} must be an integer, found {values[name]!r}") from None
    if size < 0:
        raise FormulaError(f"the value of {{{name}}} must be at least 0, found {size}")
    return size


def _nonzero(divisor: int, shown: Expr) -> int:
    if not divisor:
        raise FormulaError(f"division by zero: {brief(shown)} = 0")
    return divisor
