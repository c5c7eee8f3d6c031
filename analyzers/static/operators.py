"""Operators in, the values they give out; each notes its expression first, so that operations are placed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import libcst as cst

from forwardbook.analyzers.static.interpreter import Interpreter, evaluates
from forwardbook.analyzers.static.opaque import Opaque, is_a
from forwardbook.analyzers.static.scope import Scope
from forwardbook.analyzers.static.unresolved import Unresolved

_MOST_ITEMS = 10_000_000  # of a repeated sequence
_MOST_BITS = 100_000  # of a power or shift

BINARY: dict[type, Callable[[Any, Any], Any]] = {
    cst.Add: operator.add, cst.Subtract: operator.sub, cst.Multiply: operator.mul,
    cst.Divide: operator.truediv,
    cst.FloorDivide: operator.floordiv, cst.Modulo: operator.mod, cst.Power: operator.pow,
    cst.MatrixMultiply: operator.matmul, cst.LeftShift: operator.lshift, cst.RightShift: operator.rshift,
    cst.BitAnd: operator.and_, cst.BitOr: operator.or_, cst.BitXor: operator.xor,
}  # fmt: skip
IN_PLACE: dict[type, Callable[[Any, Any], Any]] = {
    cst.AddAssign: operator.iadd, cst.SubtractAssign: operator.isub, cst.MultiplyAssign: operator.imul,
    cst.DivideAssign: operator.itruediv, cst.FloorDivideAssign: operator.ifloordiv,
    cst.ModuloAssign: operator.imod,
    cst.PowerAssign: operator.ipow, cst.MatrixMultiplyAssign: operator.imatmul,
    cst.LeftShiftAssign: operator.ilshift, cst.RightShiftAssign: operator.irshift,
    cst.BitAndAssign: operator.iand, cst.BitOrAssign: operator.ior, cst.BitXorAssign: operator.ixor,
}  # fmt: skip
UNARY: dict[type, Callable[[Any], Any]] = {
    cst.Minus: operator.neg, cst.Plus: operator.pos, cst.BitInvert: operator.invert, cst.Not: operator.not_,
}  # fmt: skip
COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    cst.Equal: operator.eq, cst.NotEqual: operator.ne, cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt, cst.GreaterThanEqual: operator.ge,
    cst.Is: operator.is_, cst.IsNot: operator.is_not,
    cst.In: lambda left, right: left in right, cst.NotIn: lambda left, right: left not in right,
}  # fmt: skip
_IDENTITY = cst.Is | cst.IsNot


@evaluates(cst.BinaryOperation)
def binary(run: Interpreter, node: cst.BinaryOperation, scope: Scope) -> Any:
    """`left + right` and its like."""
    left, right = run.evaluate(node.left, scope), run.evaluate(node.right, scope)
    run.at(node)
    return apply(BINARY[type(node.operator)], type(node.operator), left, right)


def apply(function: Callable[[Any, Any], Any], kind: type, left: Any, right: Any) -> Any:
    """A binary operator, refused where the result would be too large to hold."""
    for value in (left, right):
        if is_a(value, Opaque) and kind is not cst.BitOr:
            raise value.refuse()
    if kind in (cst.Power, cst.PowerAssign, cst.LeftShift, cst.LeftShiftAssign):
        if type(left) is int and type(right) is int and right > 1:
            bits = right * max(left.bit_length(), 1) if "Power" in kind.__name__ else right
            if bits > _MOST_BITS:
                raise Unresolved(f"a number of {bits} bits")
    elif kind in (cst.Multiply, cst.MultiplyAssign):
        for sequence, times in ((left, right), (right, left)):
            repeated = isinstance(sequence, list | tuple | str | bytes) and type(times) is int
            if repeated and len(sequence) * times > _MOST_ITEMS:
                raise Unresolved(f"a sequence of {len(sequence) * times} items")
    return function(left, right)


@evaluates(cst.UnaryOperation)
def unary(run: Interpreter, node: cst.UnaryOperation, scope: Scope) -> Any:
    """`-x`, `+x`, `~x`, `not x`."""
    value = run.evaluate(node.expression, scope)
    run.at(node)
    if is_a(value, Opaque):
        raise value.refuse()
    return UNARY[type(node.operator)](value)


@evaluates(cst.BooleanOperation)
def boolean(run: Interpreter, node: cst.BooleanOperation, scope: Scope) -> Any:
    """`and`, `or`: the right side only when it decides."""
    left = run.evaluate(node.left, scope)
    run.at(node.left)
    if is_a(left, Opaque):
        raise left.refuse()
    if bool(left) is isinstance(node.operator, cst.Or):
        return left
    return run.evaluate(node.right, scope)


@evaluates(cst.Comparison)
def comparison(run: Interpreter, node: cst.Comparison, scope: Scope) -> Any:
    """`a < b < c`: each pair until one is false."""
    left = run.evaluate(node.left, scope)
    result: Any = True
    for index, target in enumerate(node.comparisons):
        right = run.evaluate(target.comparator, scope)
        run.at(node)
        for value in (left, right):
            if is_a(value, Opaque) and not isinstance(target.operator, _IDENTITY):
                raise value.refuse()
        result = COMPARE[type(target.operator)](left, right)
        if index < len(node.comparisons) - 1 and not result:
            return result
        left = right
    return result
