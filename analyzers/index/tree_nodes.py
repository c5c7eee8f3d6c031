"""Where something stands in source text in, nodes of Python's own `ast` standing there out."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)
DEEPEST: Final = (
    120  # levels of nesting that are followed; Python itself allows 100 of blocks and 200 of brackets
)


class Place(NamedTuple):
    """Where a node begins and ends: lines from 1, columns from 0 in bytes of UTF-8."""

    line: int
    column: int
    end_line: int
    end_column: int


def placed(node: Node, place: Place) -> Node:
    """The same node, told where it stands."""
    node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = place  # type: ignore[attr-defined]
    return node


def bag(place: Place, inner: Sequence[ast.AST]) -> ast.expr:
    """An expression of which only what it contains matters."""
    return placed(ast.JoinedStr(list(inner)), place)  # type: ignore[arg-type]


def annotated(target: ast.expr, annotation: ast.expr, value: ast.expr | None) -> ast.AnnAssign:
    """`target: annotation = value`."""
    return ast.AnnAssign(cast("ast.Name", target), annotation, value, 1)


def constant(place: Place, value: str | int | None) -> ast.expr:
    """A literal."""
    return placed(ast.Constant(value), place)


def string_value(text: str) -> str | None:
    """The value of a string literal, None where it is no plain string."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text.strip("\"'") if text[:1] in "\"'" else None
    return value if isinstance(value, str) else None
