"""A call's node in, the words for what it calls and what it passes out."""

from __future__ import annotations

import ast
from typing import Final

from forwardbook.analyzers.index.header import brief
from forwardbook.analyzers.index.source_text import SourceText

ARGUMENT: Final = 80  # the longest argument that is kept whole, in characters


def callee(node: ast.expr) -> str:
    """The callee as written where it is names, calls and items (`Tracer().trace`, `xs[].run`), else `()`."""
    names: list[str] = []
    while True:
        kind = node.__class__
        if kind is ast.Attribute:
            names.append("." + node.attr)  # type: ignore[attr-defined]
            node = node.value  # type: ignore[attr-defined]
        elif kind is ast.Name:
            names.append(node.id)  # type: ignore[attr-defined]
            break
        elif kind is ast.Call:
            names.append("()")
            node = node.func  # type: ignore[attr-defined]
        elif kind is ast.Subscript:
            names.append("[]")
            node = node.value  # type: ignore[attr-defined]
        else:
            names.append("()")
            break
    names.reverse()
    return "".join(names)


def argument_words(source: SourceText, node: ast.Call) -> tuple[str, ...]:
    """The arguments of a call as written."""
    if not node.keywords:
        return tuple([brief(source, arg, ARGUMENT) for arg in node.args])
    found = [(arg.lineno, arg.col_offset, brief(source, arg, ARGUMENT)) for arg in node.args]
    for keyword in node.keywords:
        value = brief(source, keyword.value, ARGUMENT)
        text = f"{keyword.arg}={value}" if keyword.arg else f"**{value}"
        found.append((keyword.lineno, keyword.col_offset, text))
    found.sort(key=lambda arg: arg[:2])
    return tuple([text for _, _, text in found])
