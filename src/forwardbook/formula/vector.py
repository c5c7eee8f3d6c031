"""Turns expressions and arrays of sizes into arrays of exact integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy
from numpy.typing import NDArray

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol
from forwardbook.formula.evaluation import symbol_value
from forwardbook.formula.expr import ONE, Expr

Integers: TypeAlias = NDArray[numpy.int64]  # of dtype object where 64 bits do not surely hold every step
Truths: TypeAlias = NDArray[numpy.bool_]
_LARGEST = 2**63 - 1


def evaluate_many(value: Expr, values: Mapping[str, Integers | int]) -> Integers:
    """The values at every point of the broadcast arrays, each equal to `evaluate` there."""
    shape = numpy.broadcast_shapes(*(numpy.shape(size) for size in values.values()))
    found = Points({name: values[name] for name in value.symbols() if name in values}).of(value)
    fails = numpy.broadcast_to(found.fails, shape)
    if fails.any():
        first = numpy.unravel_index(int(fails.argmax()), shape)
        point = {name: int(numpy.broadcast_to(values[name], shape)[first]) for name in value.symbols()}
        value.evaluate(point)  # raises what is wrong there
    return numpy.broadcast_to(found.numbers, shape).copy()


class Column(NamedTuple):
    """An expression at every point, and at which points it has no value: the numbers there mean nothing."""

    numbers: Integers
    fails: Truths


class Points:
    """Arrays of sizes, broadcast to points; what expressions share is computed once."""

    def __init__(self, values: Mapping[str, Integers | int]) -> None:
        self._values = values
        self._sizes: dict[str, Integers] = {}
        self._bounds: dict[Atom, _Bound] = {}
        self._known: dict[tuple[Atom, bool], Column] = {}

    def of(self, value: Expr) -> Column:
        """The exact integers: int64 where that surely holds every step, else Python's.

        Raises:
            FormulaError: a symbol has no value, or one that is no integer or negative.
        """
        return self._at(value, self._bound(value).steps <= _LARGEST)

    # How large numbers become.

    def _bound(self, value: Expr) -> _Bound:
        numerator, denominator = value.fraction()
        above, below = self._bound_of_whole(numerator), self._bound_of_whole(denominator)
        return _Bound(above.result, max(above.steps, below.steps))

    def _bound_of_whole(self, value: Expr) -> _Bound:
        total, steps = 0, 0
        for monomial, coefficient in value.terms.items():
            product = abs(int(coefficient))
            for atom, power in monomial.powers:
                bound = self._bounds.get(atom)
                if bound is None:
                    bound = self._bounds[atom] = self._bound_of_atom(atom)
                product *= max(1, bound.result) ** power
                steps = max(steps, bound.steps)
            total += product
        return _Bound(total, max(steps, total))

    def _bound_of_atom(self, atom: Atom) -> _Bound:
        match atom:
            case Symbol():
                size = self._size(atom.name)
                largest = max((int(size.max()), 0)) if size.size else 0
                return _Bound(largest, largest)
            case Floor():
                above, below = self._bound(atom.numerator), self._bound(atom.denominator)
                result = above.result + 1  # rounding down a negative quotient adds at most one
                return _Bound(result, max(result, above.steps, below.steps))
            case Extreme():
                bounds = [self._bound(argument) for argument in atom.arguments]
                return _Bound(max(b.result for b in bounds), max(b.steps for b in bounds))
        raise FormulaError(f"{atom.key} has no value")

    # The numbers.

    def _at(self, value: Expr, fits: bool) -> Column:
        """The values; an exact division that leaves a remainder has none."""
        numerator, denominator = value.fraction()
        total = self._whole(numerator, fits)
        if denominator is ONE:
            return total
        divisor = self._divisor(denominator, fits)
        remains = numpy.asarray(total.numbers % divisor.numbers != 0, dtype=bool)
        return Column(_quotient(total, divisor, fits), total.fails | divisor.fails | remains)

    def _whole(self, value: Expr, fits: bool) -> Column:
        kind = _kind(fits)
        total, fails = numpy.zeros((), dtype=kind), numpy.zeros((), dtype=bool)
        for monomial, coefficient in value.terms.items():
            product = numpy.asarray(int(coefficient), dtype=kind)
            for atom, power in monomial.powers:
                known = self._known.get((atom, fits))
                if known is None:
                    known = self._known[atom, fits] = self._atom(atom, fits)
                fails = fails | known.fails
                for _ in range(power):
                    product = numpy.asarray(product * known.numbers, dtype=kind)
            total = numpy.asarray(total + product, dtype=kind)
        return Column(total, fails)

    def _divisor(self, divisor: Expr, fits: bool) -> Column:
        """The values of what divides; there is none where it is zero."""
        numbers, fails = self._at(divisor, fits)
        zero = numpy.asarray(numbers == 0, dtype=bool)
        return Column(numpy.asarray(numpy.where(zero, 1, numbers), dtype=_kind(fits)), fails | zero)

    def _atom(self, atom: Atom, fits: bool) -> Column:
        match atom:
            case Symbol():
                return Column(self._size(atom.name).astype(_kind(fits)), numpy.zeros((), dtype=bool))
            case Floor():
                above, below = self._at(atom.numerator, fits), self._divisor(atom.denominator, fits)
                return Column(_quotient(above, below, fits), above.fails | below.fails)
            case Extreme():
                choose = numpy.maximum if atom.largest else numpy.minimum
                found, *others = (self._at(argument, fits) for argument in atom.arguments)
                for other in others:
                    chosen = numpy.asarray(choose(found.numbers, other.numbers), dtype=_kind(fits))
                    found = Column(chosen, found.fails | other.fails)
                return found
        raise FormulaError(f"{atom.key} has no value")

    def _size(self, name: str) -> Integers:
        if name not in self._sizes:
            self._sizes[name] = _checked(name, self._values)
        return self._sizes[name]


class _Bound(NamedTuple):
    """Of the magnitude of a number, and of every step on the way to it."""

    result: int
    steps: int


def _kind(fits: bool) -> type[numpy.int64] | type[object]:
    return numpy.int64 if fits else object


def _quotient(above: Column, below: Column, fits: bool) -> Integers:
    """Rounded down."""
    return numpy.asarray(above.numbers // below.numbers, dtype=_kind(fits))


def _checked(name: str, values: Mapping[str, Integers | int]) -> Integers:
    """The sizes of one symbol as an array of integers >= 0."""
    given = values.get(name)
    if given is None or isinstance(given, int):
        return numpy.asarray(symbol_value(name, {} if given is None else {name: given}), dtype=object)
    array = numpy.asarray(given)
    plain = array.dtype.kind in "iu"
    if not plain and not (array.dtype == object and all(isinstance(size, int) for size in array.flat)):
        raise FormulaError(f"the values of {{{name}}} must be integers, found an array of {array.dtype}")
    if array.size and array.min() < 0:
        raise FormulaError(f"the values of {{{name}}} must be at least 0, found {array.min()}")
    return array
