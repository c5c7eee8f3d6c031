"""Turns an expression and replacements for its symbols, or for any of its atoms, into what it then is."""

from __future__ import annotations

from collections.abc import Mapping

from forwardbook.errors import FormulaError
from forwardbook.formula import atoms
from forwardbook.formula.atoms import UNIT, Atom, Extreme, Floor, Monomial
from forwardbook.formula.expr import ONE, Expr
from forwardbook.formula.terms import Terms, accumulate, product


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
        self._known: dict[Atom, Expr | None] = dict(replacements)
        self._products: dict[Monomial, Terms] = {}
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
        total: Terms = {}
        for monomial, coefficient in value.terms.items():
            terms = self._products.get(monomial)
            if terms is None:
                terms = self._products[monomial] = self._product(monomial)
            accumulate(total, terms if coefficient == 1 else product(terms, {UNIT: coefficient}))
        return Expr(total)

    def _product(self, monomial: Monomial) -> Terms:
        """What a term without its coefficient becomes; the factors that stay are multiplied as one."""
        kept: list[tuple[Atom, int]] = []
        changed: list[tuple[Expr, int]] = []
        for atom, power in monomial.powers:
            found = self._becomes(atom)
            if found is None:
                kept.append((atom, power))
            else:
                changed.append((found, power))
        if not changed:
            return {monomial: 1}
        terms: Terms = {atoms.monomial(kept): 1}
        for found, power in changed:
            for _ in range(power):
                terms = product(terms, found.terms)
        return terms

    def _becomes(self, atom: Atom) -> Expr | None:
        """What an atom becomes; None where it stays."""
        if atom not in self._known:
            found = None if self._stays(atom) else self._atom(atom)
            self._known[atom] = None if found == Expr.atom(atom) else found
        return self._known[atom]

    def _stays(self, atom: Atom) -> bool:
        return isinstance(atom, atoms.Symbol) or Expr.atom(atom).symbols().isdisjoint(self._names)

    def _atom(self, atom: Atom) -> Expr:
        match atom:
            case Floor():
                return self.of(atom.numerator).floordiv(self.of(atom.denominator))
            case Extreme():
                arguments = [self.of(argument) for argument in atom.arguments]
                return Expr.maximum(*arguments) if atom.largest else Expr.minimum(*arguments)
        raise FormulaError(f"{atom.key} cannot be replaced")
