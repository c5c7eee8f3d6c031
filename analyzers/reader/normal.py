"""Nodes in, a hash out that ignores comments, docstrings, blank space and grouping parentheses."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import fields

import libcst as cst

_LAYOUT = {
    "lpar", "rpar", "comma", "semicolon", "leading_lines", "lines_after_decorators", "header", "footer",
    "indent", "trailing_whitespace", "leading_whitespace", "lbrace", "rbrace", "lbracket", "rbracket",
    "empty_lines",
}  # fmt: skip


def normalised_hash(nodes: Iterable[cst.CSTNode]) -> str:
    """The sha256 of the nodes' structure, in the order given."""
    digest = hashlib.sha256()
    for node in nodes:
        for token in tokens(node):
            digest.update(token.encode())
            digest.update(b"\x00")
    return digest.hexdigest()


def tokens(node: cst.CSTNode) -> Iterator[str]:
    """The names of node types and the values of leaves, layout and docstrings left out."""
    yield type(node).__name__
    for field in fields(node):
        if field.name in _LAYOUT or field.name.startswith("whitespace"):
            continue
        yield from _value(field.name, getattr(node, field.name))
    yield ")"


def _value(name: str, value: object) -> Iterator[str]:
    if isinstance(value, cst.CSTNode):
        if not isinstance(value, cst.BaseParenthesizableWhitespace | cst.Comment):
            yield name
            yield from tokens(value)
    elif isinstance(value, list | tuple):
        yield f"{name}["
        for item in value:
            if not _is_docstring(item):
                yield from _value("", item)
    elif isinstance(value, str):
        yield f"{name}={value}"


def _is_docstring(node: object) -> bool:
    """True for a statement that is only a string: a docstring, or a comment written as one."""
    if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1:
        node = node.body[0]
    return isinstance(node, cst.Expr) and isinstance(node.value, cst.SimpleString | cst.ConcatenatedString)
