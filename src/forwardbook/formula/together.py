"""Several expressions in; what evaluates all of them at one point at once, exactly, in microseconds, out.

What they share is computed once: symbols, rounded divisions, extremes and products of these. What remains of
each expression is one sum of products with constants. Values may be fractions, as widths of half a byte are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from operator import itemgetter, mul

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import Atom, Extreme, Floor, Monomial, Symbol
from forwardbook.formula.expr import Expr
from forwardbook.formula.rational import Rational

Values = list[Rational]  # of all steps so far
Step = Callable[[Values], Rational]


class Together:
    """Expressions made ready to be evaluated often."""

    def __init__(self, expressions: Sequence[Expr]) -> None:
        self._names: dict[str, int] = {}
        self._steps: list[Step] = []
        self._atoms: dict[Atom, int] = {}
        self._inverses: dict[Atom, int] = {}
        self._products: dict[Monomial, int] = {}
        for name in sorted(frozenset[str]().union(*(one.symbols() for one in expressions))):
            self._names[name] = len(self._names)
        self._sums = [self._sum(one) for one in expressions]

    def at(self, values: Mapping[str, Rational]) -> list[Rational]:
        """The value of each expression.

        Raises:
            FormulaError: where a symbol has no value or a divisor is zero.
        """
        try:
            found: Values = [values[name] for name in self._names]
        except KeyError as missing:
            given = ", ".join(sorted(values)[:20]) or "nothing"
            raise FormulaError(f"no value for {{{missing.args[0]}}}; values were given for {given}") from None
        for step in self._steps:
            found.append(step(found))
        return [total(found) for total in self._sums]

    def _add(self, step: Step) -> int:
        self._steps.append(step)
        return len(self._names) + len(self._steps) - 1

    def _sum(self, value: Expr) -> Step:
        """The sum of the terms, each a constant times a product that is a step."""
        terms = [(coefficient, self._product(monomial)) for monomial, coefficient in value.terms.items()]
        if not terms:
            return lambda values: 0
        if len(terms) == 1:
            (coefficient, place), *_ = terms
            return lambda values: coefficient * values[place]
        coefficients = tuple(coefficient for coefficient, _ in terms)
        chosen = itemgetter(*(place for _, place in terms))
        return lambda values: sum(map(mul, coefficients, chosen(values)))

    def _product(self, monomial: Monomial) -> int:
        """The place of a product of atoms."""
        if monomial not in self._products:
            places = [
                self._atom(atom) if power > 0 else self._inverse(atom)
                for atom, power in monomial.powers
                for _ in range(abs(power))
            ]
            self._products[monomial] = places[0] if len(places) == 1 else self._add(_product_of(places))
        return self._products[monomial]

    def _inverse(self, atom: Atom) -> int:
        if atom not in self._inverses:
            place, text = self._atom(atom), Expr.atom(atom).text()
            self._inverses[atom] = self._add(lambda values: 1 / Fraction(_nonzero(values[place], text)))
        return self._inverses[atom]

    def _atom(self, atom: Atom) -> int:
        """The place of a symbol's value, or of what a rounded division or an extreme gives."""
        if isinstance(atom, Symbol):
            return self._names[atom.name]
        if atom not in self._atoms:
            self._atoms[atom] = self._add(self._opaque(atom))
        return self._atoms[atom]

    def _opaque(self, atom: Atom) -> Step:
        match atom:
            case Floor():
                top, below = self._sum(atom.numerator), self._sum(atom.denominator)
                text = atom.denominator.text()
                return lambda values: top(values) // _nonzero(below(values), text)
            case Extreme():
                arguments = [self._sum(argument) for argument in atom.arguments]
                choose = max if atom.largest else min
                return lambda values: choose([argument(values) for argument in arguments])
        raise FormulaError(f"{atom.key} has no value")


def _product_of(places: Sequence[int]) -> Step:
    if not places:
        return lambda values: 1
    if len(places) == 2:
        one, other = places
        return lambda values: values[one] * values[other]
    chosen = itemgetter(*places)
    return lambda values: prod(chosen(values))


def _nonzero(divisor: Rational, text: str) -> Rational:
    if not divisor:
        raise FormulaError(f"division by zero: {text} = 0")
    return divisor
