"""Turns an expression and a rational value for each symbol into the exact rational number that it is.

Widths of less than a byte make sizes in bytes fractions; every other formula has integers for its symbols.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol
from forwardbook.formula.expr import Expr

Rational = int | Fraction


def rational_value(value: Expr, values: Mapping[str, Rational]) -> Fraction:
    """The value at one assignment.

    Raises:
        FormulaError: where a symbol has no value or a divisor is zero.
    """
    return _value(value, values, {})


def _value(value: Expr, values: Mapping[str, Rational], known: dict[Atom, Fraction]) -> Fraction:
    total = Fraction(0)
    for monomial, coefficient in value.terms.items():
        product = Fraction(coefficient)
        for atom, power in monomial.powers:
            if atom not in known:
                known[atom] = _atom(atom, values, known)
            if not known[atom] and power < 0:
                raise FormulaError(f"division by zero: {Expr.atom(atom).text()} = 0")
            product *= known[atom] ** power
        total += product
    return total


def _atom(atom: Atom, values: Mapping[str, Rational], known: dict[Atom, Fraction]) -> Fraction:
    match atom:
        case Symbol():
            if atom.name not in values:
                given = ", ".join(sorted(values)[:20]) or "nothing"
                raise FormulaError(f"no value for {{{atom.name}}}; values were given for {given}")
            return Fraction(values[atom.name])
        case Floor():
            divisor = _value(atom.denominator, values, known)
            if not divisor:
                raise FormulaError(f"division by zero: {atom.denominator.text()} = 0")
            return Fraction(_value(atom.numerator, values, known) // divisor)
        case Extreme():
            found = [_value(argument, values, known) for argument in atom.arguments]
            return max(found) if atom.largest else min(found)
    raise FormulaError(f"{atom.key} has no value")
