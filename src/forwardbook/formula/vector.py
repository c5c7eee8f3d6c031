"""Turns an expression and arrays of sizes into an array of exact integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy
from numpy.typing import NDArray

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol
from forwardbook.formula.evaluation import symbol_value
from forwardbook.formula.expr import ONE, Expr
from forwardbook.formula.printing import brief

Integers: TypeAlias = NDArray[numpy.int64]  # of dtype object where 64 bits do not surely hold every step
_LARGEST = 2**63 - 1


def evaluate_many(value: Expr, values: Mapping[str, Integers | int]) -> Integers:
    """The values at every point of the broadcast arrays, each equal to `evaluate` there."""
    sizes = {name: _checked(name, values) for name in value.symbols()}
    shape = numpy.broadcast_shapes(*(numpy.shape(size) for size in values.values()))
    largest = {name: max((int(size.max()), 0)) if size.size else 0 for name, size in sizes.items()}
    fits = _Bound(largest).of(value) <= _LARGEST
    arrays = {name: size.astype(numpy.int64 if fits else object) for name, size in sizes.items()}
    total = _Arrays(arrays, fits).of(value)
    return numpy.broadcast_to(total, shape).copy()


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


class _Bound:
    """A bound on the size of every intermediate result, from the largest value of each symbol."""

    def __init__(self, largest: Mapping[str, int]) -> None:
        self._largest = largest
        self._peak = 0
        self._known: dict[Atom, int] = {}

    def of(self, value: Expr) -> int:
        """The largest magnitude that occurs while the value is computed."""
        self._reach(value)
        return self._peak

    def _reach(self, value: Expr) -> int:
        numerator, denominator = value.fraction()
        if denominator is not ONE:
            self._whole(denominator)
        return self._whole(numerator)

    def _whole(self, value: Expr) -> int:
        total = 0
        for monomial, coefficient in value.terms.items():
            product = abs(int(coefficient))
            for atom, power in monomial.powers:
                product *= max(1, self._atom(atom)) ** power
            total += product
        self._peak = max(self._peak, total)
        return total

    def _atom(self, atom: Atom) -> int:
        if atom not in self._known:
            self._known[atom] = self._atom_reach(atom)
        return self._known[atom]

    def _atom_reach(self, atom: Atom) -> int:
        match atom:
            case Symbol():
                return self._largest[atom.name]
            case Floor():
                self._reach(atom.denominator)
                return self._reach(atom.numerator) + 1  # rounding down a negative quotient adds at most one
            case Extreme():
                return max(self._reach(argument) for argument in atom.arguments)
        raise FormulaError(f"{atom.key} has no value")


class _Arrays:
    """The evaluation over arrays of one dtype."""

    def __init__(self, arrays: Mapping[str, Integers], fits: bool) -> None:
        self._arrays = arrays
        self._dtype: type[numpy.int64] | type[object] = numpy.int64 if fits else object
        self._known: dict[Atom, Integers] = {}

    def of(self, value: Expr) -> Integers:
        """The values, after a check that every exact division leaves no remainder."""
        numerator, denominator = value.fraction()
        total = self._whole(numerator)
        if denominator is ONE:
            return total
        divisor = self._nonzero(denominator)
        if numpy.any(total % divisor != 0):
            raise FormulaError(
                f"a divisibility condition is violated: {brief(numerator)} is no multiple of "
                f"{brief(denominator)} at some of the points"
            )
        return numpy.asarray(total // divisor, dtype=self._dtype)

    def _whole(self, value: Expr) -> Integers:
        total = numpy.zeros((), dtype=self._dtype)
        for monomial, coefficient in value.terms.items():
            product = numpy.asarray(int(coefficient), dtype=self._dtype)
            for atom, power in monomial.powers:
                for _ in range(power):
                    product = numpy.asarray(product * self._atom(atom), dtype=self._dtype)
            total = numpy.asarray(total + product, dtype=self._dtype)
        return total

    def _nonzero(self, divisor: Expr) -> Integers:
        found = self.of(divisor)
        if numpy.any(found == 0):
            raise FormulaError(f"division by zero: {brief(divisor)} = 0 at some of the points")
        return found

    def _atom(self, atom: Atom) -> Integers:
        if atom not in self._known:
            self._known[atom] = numpy.asarray(self._atom_values(atom), dtype=self._dtype)
        return self._known[atom]

    def _atom_values(self, atom: Atom) -> Integers:
        match atom:
            case Symbol():
                return self._arrays[atom.name]
            case Floor():
                divisor = self._nonzero(atom.denominator)
                return numpy.asarray(self.of(atom.numerator) // divisor, dtype=self._dtype)
            case Extreme():
                choose = numpy.maximum if atom.largest else numpy.minimum
                found, *others = (self.of(argument) for argument in atom.arguments)
                for other in others:
                    found = choose(found, other)
                return found
        raise FormulaError(f"{atom.key} has no value")
