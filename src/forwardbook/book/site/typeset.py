"""Formulas in, MathML out: every browser draws it by itself, without a script, a font or a picture of ours.

Products stand with a dot, `//` and divisions inside `floor` and `ceil` as fractions, repeated factors as
powers; wide sums and the arguments of `max` and `min` are broken into rows.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import groupby
from typing import Final

from forwardbook.book.site.formula_tree import NotAFormulaError, syntax_tree

WIDE: Final = 76
"""Characters after which a sum goes on in the next row."""

_COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "=", ast.NotEq: "≠", ast.Lt: "<", ast.LtE: "≤", ast.Gt: ">", ast.GtE: "≥",
}  # fmt: skip
_BRACKETS: Final = {"floor": ("⌊", "⌋"), "ceil": ("⌈", "⌉")}


@dataclass(frozen=True, slots=True)
class _Box:
    """MathML, how many characters wide it shows, and whether it needs brackets as a factor."""

    markup: str
    width: int
    is_sum: bool = False

    @property
    def factor(self) -> _Box:
        """In brackets where it is a sum."""
        return _row(_operator("("), self, _operator(")")) if self.is_sum else self


def typeset_lines(text: str) -> str:
    """Each line `name = formula`, or a formula alone, as an equation; other lines as the code they are."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f'<div class="fb-math" data-search-exclude>{"".join(_line(line) for line in lines)}</div>'


@lru_cache(maxsize=4096)
def typeset(formula: str) -> str | None:
    """A formula or a condition as the content of `<math>`, None where it is no formula."""
    try:
        return _box(*syntax_tree(formula)).markup
    except (NotAFormulaError, RecursionError):
        return None


def _line(line: str) -> str:
    name, equals, formula = line.partition(" = ")
    if not equals or not name.replace("_", "").isalnum():
        name, formula = "", line
    markup = typeset(formula)
    if markup is None:
        return f"<pre><code>{escape(line)}</code></pre>"
    left = f"<mi>{escape(name)}</mi><mo>=</mo>" if name else ""
    return f'<math display="block">{left}{markup}</math>'


def _box(node: ast.expr, names: Sequence[str]) -> _Box:
    match node:
        case ast.Constant(value=int() as value):
            return _Box(f"<mn>{value}</mn>", len(str(value)))
        case ast.Name(id=place) if place[1:].isdigit():
            name = names[int(place[1:])]
            return _Box(f"<mi>{escape(name)}</mi>", len(name))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _Box(*_parts(_operator("−"), _box(inner, names).factor), is_sum=True)
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return _sum(_terms(node, names))
        case ast.BinOp(op=ast.Mult()):
            return _product([_box(each, names).factor for each in _factors(node)])
        case ast.BinOp(left=above, op=ast.FloorDiv() | ast.Div(), right=below):
            return _fraction(_box(above, names), _box(below, names))
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            parts = _parts(_box(left, names).factor, _operator("mod"), _box(right, names).factor)
            return _Box(*parts, is_sum=True)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _call(name, [_box(each, names) for each in arguments])
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return _row(_box(left, names), _operator(_COMPARISONS[type(op)]), _box(right, names))
    raise NotAFormulaError


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), node.right]
    return [node]


def _terms(node: ast.expr, names: Sequence[str]) -> list[tuple[str, _Box]]:
    """The terms of a sum from left to right, each with its sign."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        sign = "+" if isinstance(node.op, ast.Add) else "−"
        last = _box(node.right, names)
        return [*_terms(node.left, names), (sign, last.factor if sign == "−" else last)]
    return [("", _box(node, names))]


def _sum(terms: list[tuple[str, _Box]]) -> _Box:
    rows: list[list[_Box]] = [[]]
    width = 0
    for sign, term in terms:
        if rows[-1] and width + term.width > WIDE:
            rows.append([])
            width = 0
        rows[-1] += [_operator(sign), term] if sign else [term]
        width += term.width + 3
    return _Box(*_stacked([_row(*row) for row in rows]), is_sum=True)


def _product(factors: list[_Box]) -> _Box:
    powers = [(box, len(list(same))) for box, same in groupby(factors)]
    shown: list[_Box] = []
    for box, power in powers:
        shown += [_operator("·")] if shown else []
        plain = power == 1
        shown.append(
            box if plain else _Box(f"<msup>{_one(box)}<mn>{power}</mn></msup>", box.width + len(str(power)))
        )
    return _row(*shown)


def _fraction(above: _Box, below: _Box) -> _Box:
    return _Box(f"<mfrac>{_one(above)}{_one(below)}</mfrac>", max(above.width, below.width))


def _call(name: str, arguments: list[_Box]) -> _Box:
    if name in _BRACKETS and len(arguments) == 1:
        opened, closed = _BRACKETS[name]
        return _row(_operator(opened), arguments[0], _operator(closed))
    if name not in ("max", "min") or not arguments:
        raise NotAFormulaError
    rows = [_row(each, _operator(",")) for each in arguments[:-1]] + arguments[-1:]
    if sum(row.width for row in rows) <= WIDE:
        return _row(_Box(f"<mi>{name}</mi>", 3), _operator("("), *rows, _operator(")"))
    markup, width = _stacked(rows)
    return _row(_Box(f"<mi>{name}</mi>", 3), _operator("("), _Box(markup, width), _operator(")"))


def _operator(text: str) -> _Box:
    return _Box(f"<mo>{escape(text)}</mo>", len(text) + (0 if text in "()⌊⌋⌈⌉," else 2))


def _row(*boxes: _Box) -> _Box:
    return _Box(*_parts(*boxes))


def _parts(*boxes: _Box) -> tuple[str, int]:
    return "".join(box.markup for box in boxes), sum(box.width for box in boxes)


def _one(box: _Box) -> str:
    return f"<mrow>{box.markup}</mrow>"


def _stacked(rows: list[_Box]) -> tuple[str, int]:
    if len(rows) == 1:
        return rows[0].markup, rows[0].width
    cells = "".join(f"<mtr><mtd>{row.markup}</mtd></mtr>" for row in rows)
    return f"<mtable>{cells}</mtable>", max(row.width for row in rows)
