"""Text of the formula language in; its syntax tree as written, and its value at sizes, out.

`forwardbook.formula` reads a formula into a normal form; here it keeps the shape in which people read it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

_NAME: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}", re.ASCII)
_ALLOWED: Final = re.compile(r"[\w\s{}().,+\-*/%<>=!]*", re.ASCII)
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[int, int], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class NotAFormulaError(Exception):
    """The text is not in the formula language."""


def syntax_tree(formula: str) -> tuple[ast.expr, list[str]]:
    """The tree, read as Python reads it and never run; a node `v3` stands for the fourth name of the list."""
    if not _ALLOWED.fullmatch(formula):
        raise NotAFormulaError(formula)
    names: list[str] = []

    def placed(found: re.Match[str]) -> str:
        names.append(found[1])
        return f" v{len(names) - 1} "

    try:
        return ast.parse(_NAME.sub(placed, formula).strip(), mode="eval").body, names
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise NotAFormulaError(formula) from error


def value(formula: str, sizes: Mapping[str, int]) -> int:
    """The exact value of a formula, 1 or 0 of a condition.

    Raises:
        NotAFormulaError: for other text.
        KeyError: for a name without a size.
        ZeroDivisionError: where it divides by zero.
    """
    tree, names = syntax_tree(formula)
    return _value(tree, names, sizes)


def _value(node: ast.expr, names: Sequence[str], sizes: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=place) if place[1:].isdigit():
            return sizes[names[int(place[1:])]]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, names, sizes)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names, sizes), _value(right, names, sizes))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, arguments, names, sizes)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return int(_COMPARISONS[type(op)](_value(left, names, sizes), _value(right, names, sizes)))
    raise NotAFormulaError(ast.dump(node)[:80])


def _call(name: str, arguments: Sequence[ast.expr], names: Sequence[str], sizes: Mapping[str, int]) -> int:
    match name, arguments:
        case (("floor" | "ceil"), [ast.BinOp(left=above, op=ast.Div(), right=below)]):
            dividend, divisor = _value(above, names, sizes), _value(below, names, sizes)
            return dividend // divisor if name == "floor" else -(-dividend // divisor)
        case (("floor" | "ceil"), [whole]):
            return _value(whole, names, sizes)
        case (("max" | "min"), [_, *_]):
            found = [_value(each, names, sizes) for each in arguments]
            return max(found) if name == "max" else min(found)
    raise NotAFormulaError(name)
