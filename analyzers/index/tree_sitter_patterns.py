"""A `case` pattern of a tree-sitter tree in, the names it binds and reads out as `ast` nodes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forwardbook.analyzers.index.tree_nodes import bag, placed
from forwardbook.analyzers.index.tree_sitter_expressions import name_of, parts, place

if TYPE_CHECKING:
    from tree_sitter import Node


def pattern(top: Node) -> ast.expr:
    """A bag of what a pattern binds and reads."""
    found: list[ast.AST] = []
    stack = [top]
    while stack:
        node = stack.pop()
        inner = parts(node)
        if node.type == "dotted_name":
            found.extend([_chain(node)] if len(inner) > 1 else _captured(node, inner[0]))
        elif node.type == "class_pattern" and inner:
            found.append(_chain(inner[0]))
            stack.extend(inner[1:])
        elif node.type == "keyword_pattern":
            stack.extend(inner[1:])
        elif node.type == "splat_pattern" and inner:
            around = node.parent if node.parent is not None and node.parent.type == "dict_pattern" else node
            found.extend(_captured(around, inner[0]))
        elif node.type == "as_pattern" and inner:
            found.extend(_captured(node, inner[-1]))
            stack.extend(inner[:-1])
        else:
            stack.extend(inner)
    return bag(place(top), found)


def _captured(node: Node, name: Node) -> list[ast.AST]:
    return [] if name_of(name) == "_" else [placed(ast.MatchAs(None, name_of(name)), place(node))]


def _chain(node: Node) -> ast.expr:
    first, *rest = parts(node)
    made: ast.expr = placed(ast.Name(name_of(first), ast.Load()), place(first))
    for part in rest:
        end = place(part)
        where = place(first)._replace(end_line=end.end_line, end_column=end.end_column)
        made = placed(ast.Attribute(made, name_of(part), ast.Load()), where)
    return made
