"""Floats that Python rounded in; out on which side of their real value they may lie where that is whole.

`int(n * 1.15)` is `floor(23 n / 20)` for most n. For n = 100 it is 114: the float 1.15 is below 23/20, and
the product stays below 115. `(1 - 1 / n) / (1 / n)` is n - 1 by algebra, and more in floats for n = 3. Where
the real value lies between whole numbers it is at least one part of its denominator away from them, and no
error of floats is as large, while the numerator stays below 2 ** 50.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from fractions import Fraction
from typing import Final

from forwardbook.analyzers.symbolic.node import Node

DENOMINATOR: Final = 4096  # ratios in configurations (mlp_ratio, expand) are fractions of small integers
_HALF_UNIT: Final = Fraction(1, 1 << 54)
"""A relative error up to which a constant times a whole number is that product rounded, if that is whole."""


class Off(IntFlag):
    """How a float differs from the real number of the same expression; 0 where it never does."""

    ROUNDED = 1
    """It is the nearest float: the real number itself wherever that is one of a few bits."""
    BELOW = 2
    """It may be below a whole number that the real number is."""
    ABOVE = 4
    """It may be above it."""


_EITHER: Final = Off.ROUNDED | Off.BELOW | Off.ABOVE
_ASIDE: Final = Off.BELOW | Off.ABOVE
_DEPTH: Final = 16
_QUOTIENTS: Final = ("int_truediv", "float_truediv")
_POSITIVE: Final = frozenset(
    {"symbol", "add", "mul", "pos", "sym_float", "sym_max", "sym_min", "int_floordiv", "mod"}
    | {"pow_by_natural", "trunc", "floor", "ceil", "round", *_QUOTIENTS}
)
_SAME: Final = frozenset({"pos", "sym_float", "sym_max", "sym_min", "abs", "sym_ite"})


def is_of_float(node: Node) -> bool:
    """Whether a value is a float, or made of one."""
    stack, seen = [node], {node.index}
    while stack:
        one = stack.pop()
        if one.pytype is float:
            return True
        stack += [arg for arg in one.args if arg.index not in seen]
        seen |= {arg.index for arg in one.args}
    return False


def ratio_of(value: float) -> Fraction | None:
    """The fraction of small integers of which a float is the nearest one; None where there is none."""
    ratio = Fraction(value).limit_denominator(DENOMINATOR)
    return ratio if float(ratio) == value else None


def off(node: Node, args: Sequence[Off]) -> Off:
    """How the value of a node may differ from its expression, where those of its operands do so."""
    if node.pytype is not float:
        return Off(0)
    if node.op == "constant":
        return _constant(float(node.number))
    if node.op == "neg":
        return args[0] if args[0] & _ASIDE in (0, _ASIDE) else args[0] ^ _ASIDE
    if node.op in _SAME:
        both = Off(0)
        for one in args:
            both |= one
        return both
    if node.op in ("add", "sub"):
        return _sum(*args)
    if node.op == "mul":
        return _product(node, *args)
    if node.op in _QUOTIENTS:
        return _quotient(node, *args)
    return Off(0) if not any(args) and node.op in ("mod", "float_floordiv") else _EITHER


def off_if_even(node: Node) -> tuple[Off, list[Node]]:
    """The same where quotients of whole numbers that come out even in this run do so; and these."""
    even: list[Node] = []

    def found(one: Node, left: int = _DEPTH) -> Off:
        if one.pytype is not float or one.op == "constant" or not left:
            return _EITHER if not left else off(one, ())
        args = [found(arg, left - 1) for arg in one.args]
        if one.op in _QUOTIENTS and not any(args) and float(one.number).is_integer():
            even.append(one)
            return Off(0)
        return off(one, args)

    return found(node), even


def floors(value: float) -> bool:
    """Whether a whole number times this, rounded down, is that of the small ratio it stands for."""
    return _constant(value) == 0 or not _by_constant(value, turned=False) & Off.BELOW


def _constant(value: float) -> Off:
    ratio = ratio_of(value)
    return Off(0) if ratio is not None and Fraction(value) == ratio else Off.ROUNDED


def _sum(left: Off, right: Off) -> Off:
    """A sum of numbers of few bits is exact; one with a rounded number is whole where that is of few bits."""
    if not (left or right):
        return Off(0)
    return Off.ROUNDED if {left, right} == {Off(0), Off.ROUNDED} else _EITHER


def _product(node: Node, left: Off, right: Off) -> Off:
    if not (left or right):
        return Off(0)
    for constant, other, is_off in ((node.args[0], node.args[1], right), (node.args[1], node.args[0], left)):
        if _is_power_of_two(constant):
            return is_off
        if constant.op == "constant" and not is_off and is_positive(other):
            return _by_constant(float(constant.number), turned=False)
    return _EITHER


def _quotient(node: Node, top: Off, bottom: Off) -> Off:
    divisor = node.args[1]
    if _is_power_of_two(divisor):
        return top
    if not (top or bottom):
        return Off.ROUNDED
    if divisor.op == "constant" and not top and is_positive(node.args[0]):
        return _by_constant(float(divisor.number), turned=True)
    return _EITHER


def is_positive(node: Node, left: int = _DEPTH) -> bool:
    """Whether a value is at least 0 whatever the sizes, as far as is seen."""
    if node.op == "constant":
        return node.number >= 0
    return node.op in _POSITIVE and left > 0 and all(is_positive(arg, left - 1) for arg in node.args)


def _is_power_of_two(node: Node) -> bool:
    if node.op != "constant" or node.number <= 0:
        return False
    value = Fraction(float(node.number))
    return value.numerator & (value.numerator - 1) == 0 and value.denominator & (value.denominator - 1) == 0


def _by_constant(value: float, *, turned: bool) -> Off:
    """A whole number times a constant that is no ratio exactly, or (`turned`) divided by it."""
    ratio = ratio_of(value)
    if ratio is None or ratio <= 0:
        return _EITHER
    error = (Fraction(value) - ratio) / ratio
    if abs(error) <= _HALF_UNIT:
        return Off.ROUNDED
    return Off.ROUNDED | (Off.BELOW if (error < 0) != turned else Off.ABOVE)
