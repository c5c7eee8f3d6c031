"""The imports of a file in, the full dotted name behind an expression out (`np.load` is `numpy.load`)."""

from __future__ import annotations

import ast

from forwardbook.analyzers.index.facts import FileFacts


class Names:
    """What the names of a file stand for, as far as its own imports tell."""

    def __init__(self, facts: FileFacts) -> None:
        self.imported: dict[str, str] = {}
        for each in facts.imports:
            dots = "." * each.level
            if each.name:
                whole = f"{dots}{each.module}.{each.name}" if each.module else f"{dots}{each.name}"
                self.imported[each.alias or each.name] = whole
            elif each.alias:
                self.imported[each.alias] = each.module
            else:
                top = each.module.partition(".")[0]
                self.imported[top] = top
        self.packages = {each.lstrip(".").partition(".")[0] for each in self.imported.values()}
        self._known: dict[ast.expr, str] = {}

    def full(self, node: ast.expr) -> str:
        """The dotted name with its first part resolved by the imports; empty where it is no chain."""
        known = self._known.get(node)
        if known is None:
            first, dot, rest = dotted(node).partition(".")
            known = self._known[node] = self.imported.get(first, first) + dot + rest
        return known

    def is_imported(self, node: ast.expr) -> bool:
        """Whether the first name of a chain comes from an import."""
        return dotted(node).partition(".")[0] in self.imported


def dotted(node: ast.AST) -> str:
    """The names of `a.b.c` joined by dots; empty where it is anything else."""
    parts: list[str] = []
    while node.__class__ is ast.Attribute:
        parts.append(node.attr)
        node = node.value
    if node.__class__ is not ast.Name:
        return ""
    parts.append(node.id)
    parts.reverse()
    return ".".join(parts)


def last(node: ast.expr) -> str:
    """The last name of a callee (`load` of `x().y.load`); empty where there is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def keyword(node: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((each.value for each in node.keywords if each.arg == name), None)


def argument(node: ast.Call, position: int, name: str) -> ast.expr | None:
    """The value of an argument that is given by position or by name."""
    if position < len(node.args) and not any(
        isinstance(each, ast.Starred) for each in node.args[: position + 1]
    ):
        return node.args[position]
    return keyword(node, name)


def string(node: ast.AST | None) -> str:
    """The value of a string literal, and else nothing."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def listed(words: str) -> frozenset[str]:
    """The words of a text, as a set to look names up in."""
    return frozenset(words.split())
