"""Turns an expression and arrays of sizes, widths in fractions of a byte among them, into whole numbers.

Every step is exact: a value is an array of numerators over one array of denominators, both Python integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy
from numpy.typing import NDArray

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol
from forwardbook.formula.expr import Expr
from forwardbook.formula.printing import brief

Objects: TypeAlias = NDArray[numpy.object_]
Ratio = tuple[Objects, Objects]  # numerators, denominators above zero
Given = Mapping[str, "NDArray[numpy.int64] | Objects | int | Fraction"]


def ceilings(value: Expr, values: Given) -> Objects:
    """The values at every point of the broadcast arrays, rounded up to whole numbers."""
    numerators, denominators = _Ratios(values).of(value)
    shape = numpy.broadcast_shapes(*(_objects(one).shape for one in values.values()))
    return numpy.broadcast_to(-(-numerators // denominators), shape).copy()


class _Ratios:
    """The evaluation over arrays of exact ratios."""

    def __init__(self, values: Given) -> None:
        self._values = values
        self._known: dict[Atom, Ratio] = {}

    def of(self, value: Expr) -> Ratio:
        total, below = _objects(0), _objects(1)
        for monomial, coefficient in value.terms.items():
            exact = Fraction(coefficient)
            top, bottom = _objects(exact.numerator), _objects(exact.denominator)
            for atom, power in monomial.powers:
                one, under = self._atom(atom)
                if power < 0:
                    one, under = _inverse(one, under, atom)
                for _ in range(abs(power)):
                    top, bottom = top * one, bottom * under
            total, below = _sum((total, below), (top, bottom))
        return total, below

    def _atom(self, atom: Atom) -> Ratio:
        if atom not in self._known:
            self._known[atom] = self._fresh(atom)
        return self._known[atom]

    def _fresh(self, atom: Atom) -> Ratio:
        match atom:
            case Symbol():
                return _given(atom.name, self._values)
            case Floor():
                top, under = self.of(atom.numerator)
                divisor, below = _inverse(*self.of(atom.denominator), atom)
                return _objects((top * divisor) // (under * below)), _objects(1)
            case Extreme():
                choose = numpy.maximum if atom.largest else numpy.minimum
                found, *others = (self.of(argument) for argument in atom.arguments)
                for other in others:
                    top, bottom = found[0] * other[1], other[0] * found[1]
                    found = _objects(choose(top, bottom)), _objects(found[1] * other[1])
                return found
        raise FormulaError(f"{atom.key} has no value")


def _given(name: str, values: Given) -> Ratio:
    if name not in values:
        raise FormulaError(f"no value for {{{name}}}; values were given for {', '.join(sorted(values))}")
    value = values[name]
    if isinstance(value, int | Fraction):
        exact = Fraction(value)
        return _objects(exact.numerator), _objects(exact.denominator)
    return _objects(value), _objects(1)


def _sum(one: Ratio, other: Ratio) -> Ratio:
    below = _objects(numpy.lcm(one[1], other[1]))
    return _objects(one[0] * (below // one[1]) + other[0] * (below // other[1])), below


def _inverse(top: Objects, bottom: Objects, atom: Atom) -> Ratio:
    if numpy.any(top == 0):
        raise FormulaError(f"division by zero: {brief(Expr.atom(atom))} = 0 at some of the points")
    sign = numpy.where(top < 0, -1, 1).astype(object)
    return _objects(bottom * sign), _objects(top * sign)


def _objects(value: object) -> Objects:
    """Python's integers, which have no largest."""
    if isinstance(value, int):
        return numpy.asarray(value, dtype=object)
    return numpy.asarray(value).astype(object)
