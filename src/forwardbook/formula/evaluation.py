"""Turns an expression into nested functions, once, that give its exact integer for a value of each symbol."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol
from forwardbook.formula.expr import ONE, Expr, Known, Program
from forwardbook.formula.printing import brief


class InexactError(FormulaError):
    """A division leaves a remainder; said in words when asked, as most are only noticed.

    Its arguments are the numerator, its value, the denominator and its value.
    """

    def __str__(self) -> str:
        numerator, above, denominator, below = self.args
        return (
            f"a divisibility condition is violated: {brief(numerator)} = {above} is no multiple of "
            f"{brief(denominator)} = {below}"
        )


def program(value: Expr) -> Program:
    """What gives the value at one assignment; every step is an integer or the evaluation fails."""
    numerator, denominator = value.fraction()
    total = _whole(numerator)
    if denominator is ONE:
        return total
    return _exact(total, _whole(denominator), numerator, denominator)


def _exact(total: Program, divisor: Program, numerator: Expr, denominator: Expr) -> Program:
    """A quotient without remainder."""

    def quotient(values: Mapping[str, int], known: Known) -> int:
        above, below = total(values, known), divisor(values, known)
        found, remainder = divmod(above, below or _by_zero(denominator))
        if remainder:
            raise InexactError(numerator, above, denominator, below)
        return found

    return quotient


def _whole(value: Expr) -> Program:
    """The sum of the terms of a whole expression; atoms are asked in the order in which they first occur."""
    places = {atom: place for place, atom in enumerate(value.atoms())}
    asked = [_atom(atom) for atom in places]
    constant, linear, terms = 0, [], []
    for monomial, coefficient in value.terms.items():
        factors = [places[atom] for atom, power in monomial.powers for _ in range(power)]
        match factors:
            case []:
                constant = int(coefficient)
            case [place]:
                linear.append((int(coefficient), place))
            case _:
                terms.append((int(coefficient), tuple(factors)))
    if not asked:
        return lambda values, known: constant
    if len(asked) == 1 and linear == [(1, 0)] and not terms:
        return asked[0] if not constant else _raised(asked[0], constant)
    return _polynomial(tuple(asked), constant, tuple(linear), tuple(terms))


def _raised(atom: Program, constant: int) -> Program:
    return lambda values, known: atom(values, known) + constant


def _polynomial(
    asked: tuple[Program, ...],
    constant: int,
    linear: tuple[tuple[int, int], ...],
    terms: tuple[tuple[int, tuple[int, ...]], ...],
) -> Program:
    """A sum of a constant, of multiples of single atoms, and of multiples of products of several."""

    def total(values: Mapping[str, int], known: Known) -> int:
        sizes = [atom(values, known) for atom in asked]
        found = constant
        for coefficient, place in linear:
            found += coefficient * sizes[place]
        for coefficient, places in terms:
            for place in places:
                coefficient *= sizes[place]
            found += coefficient
        return found

    return total


def _atom(atom: Atom) -> Program:
    match atom:
        case Symbol():
            return _symbol(atom.name)
        case Floor():
            return _floor(atom)
        case Extreme():
            return _extreme(atom)
    raise FormulaError(f"{atom.key} has no value")


def _symbol(name: str) -> Program:
    def size(values: Mapping[str, int], known: Known) -> int:
        found = values.get(name)
        return found if type(found) is int and found >= 0 else symbol_value(name, values)

    return size


def _floor(atom: Floor) -> Program:
    above, below = atom.numerator.program(), atom.denominator.program()

    def quotient(values: Mapping[str, int], known: Known) -> int:
        found = known.get(atom)
        if found is None:
            divisor = below(values, known)
            found = known[atom] = above(values, known) // (divisor or _by_zero(atom.denominator))
        return found

    return quotient


def _extreme(atom: Extreme) -> Program:
    arguments = [argument.program() for argument in atom.arguments]
    choose: Callable[[list[int]], int] = max if atom.largest else min

    def chosen(values: Mapping[str, int], known: Known) -> int:
        found = known.get(atom)
        if found is None:
            found = known[atom] = choose([argument(values, known) for argument in arguments])
        return found

    return chosen


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


def _by_zero(shown: Expr) -> int:
    raise FormulaError(f"division by zero: {brief(shown)} = 0")
