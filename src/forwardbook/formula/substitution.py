"""Turns an expression and replacements for its symbols, or for any of its atoms, into what it then is."""

from __future__ import annotations

from collections.abc import Mapping

from forwardbook.errors import FormulaError
from forwardbook.formula import atoms
from forwardbook.formula.atoms import Atom, Extreme, Floor
from forwardbook.formula.expr import ONE, Expr


def substitute(value: Expr, values: Mapping[str, Expr]) -> Expr:
    """All symbols replaced at once; an exact division whose divisor becomes a stubborn sum rounds down.

    Where the recorded divisibility holds the two divisions agree.
    """
    if value.symbols().isdisjoint(values):
        return value
    return Replacing({atoms.symbol(name): found for name, found in values.items()}).of(value)


class Replacing:
    """Replaces atoms, wherever they occur; several expressions share what was found."""

    def __init__(self, replacements: Mapping[Atom, Expr]) -> None:
        self._known = dict(replacements)
        self._names = frozenset[str]().union(*(Expr.atom(atom).symbols() for atom in replacements))

    def of(self, value: Expr) -> Expr:
        """The expression with its atoms replaced, all at once."""
        if value.symbols().isdisjoint(self._names):
            return value
        numerator, denominator = value.fraction()
        above = self._whole(numerator)
        if denominator is ONE:
            return above
        below = self._whole(denominator)
        try:
            return above.exact_div(below)
        except FormulaError:
            return above.floordiv(below)

    def _whole(self, value: Expr) -> Expr:
        parts = []
        for monomial, coefficient in value.terms.items():
            product = Expr.const(int(coefficient))
            for atom, power in monomial.powers:
                if atom not in self._known:
                    self._known[atom] = self._atom(atom)
                product = product * self._known[atom] ** power
            parts.append(product)
        return Expr.sum(parts)

    def _atom(self, atom: Atom) -> Expr:
        match atom:
            case atoms.Symbol():
                return Expr.atom(atom)
            case Floor():
                return self.of(atom.numerator).floordiv(self.of(atom.denominator))
            case Extreme():
                arguments = [self.of(argument) for argument in atom.arguments]
                return Expr.maximum(*arguments) if atom.largest else Expr.minimum(*arguments)
        raise FormulaError(f"{atom.key} cannot be replaced")
