"""An import statement of a tree-sitter tree in, the same as a node of `ast` out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forwardbook.analyzers.index.tree_nodes import placed
from forwardbook.analyzers.index.tree_sitter_expressions import name_of, place, text

if TYPE_CHECKING:
    from tree_sitter import Node


def import_(node: Node, _depth: int) -> ast.stmt:
    """`import a.b as c`."""
    return placed(ast.Import(_aliases(node)), place(node))


def import_from(node: Node, _depth: int) -> ast.stmt:
    """`from ..a import b as c`, `from a import *` and `from __future__ import b`."""
    module = node.child_by_field_name("module_name")
    dotted = "__future__" if module is None else _dotted(module)
    name = dotted.lstrip(".")
    wild = any(part.type == "wildcard_import" for part in node.named_children)
    names = [ast.alias("*")] if wild else _aliases(node)
    return placed(ast.ImportFrom(name or None, names, len(dotted) - len(name)), place(node))


def _aliases(node: Node) -> list[ast.alias]:
    found = []
    for part in node.children_by_field_name("name"):
        if part.type == "aliased_import":
            alias = part.child_by_field_name("alias")
            found.append(
                ast.alias(_dotted(part.child_by_field_name("name")), name_of(alias) if alias else None)
            )
        else:
            found.append(ast.alias(_dotted(part)))
    return found


def _dotted(node: Node | None) -> str:
    return "".join(text(node).split())
