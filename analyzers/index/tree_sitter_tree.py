"""The text of a Python file in, tree-sitter's tree of it out, and the places in it that are no Python 3."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.index.facts import Problem
from forwardbook.analyzers.index.problems import problem
from forwardbook.analyzers.index.tree_sitter_expressions import text

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_NOTED: Final = 20  # broken places that are named one by one


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_python

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))


def parsed(source: str) -> Node:
    """The tree of a file; it may hold nodes of the type ERROR."""
    return _parser().parse(source.encode("utf-8", "replace")).root_node


def broken_places(root: Node) -> list[Problem]:
    """The lines on which nodes say that they are broken, each once, at most twenty by name."""
    lines: dict[int, str] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            what = " ".join(text(node)[:200].split())
            lines.setdefault(node.start_point[0] + 1, what if len(what) <= 40 else what[:39] + "…")
        if node.has_error:
            stack.extend(node.children)
    found = [
        problem(line, f"not understood: {what}" if what else "something is missing")
        for line, what in sorted(lines.items())
    ]
    more = len(found) - _NOTED
    return [*found[:_NOTED], problem(0, f"{more} more lines not understood")] if more > 0 else found


def python_2_places(root: Node) -> list[Problem]:
    """The first statement that only Python 2 has, as a problem."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in ("print_statement", "exec_statement"):
            return [problem(node.start_point[0] + 1, f"a {node.type.replace('_', ' ')}: Python 2")]
        stack.extend(reversed(node.named_children))
    return []
