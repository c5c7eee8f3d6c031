"""The node of a class or function in, its header out: signature, parameters and first decorator line."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from inspect import cleandoc

from forwardbook.analyzers.index.facts import Parameter, Span
from forwardbook.analyzers.index.source_text import SourceText

Function = ast.FunctionDef | ast.AsyncFunctionDef


def words(source: SourceText, node: ast.expr | ast.pattern | ast.arg | ast.keyword) -> str:
    """A node's own source text on one line."""
    return source.between(
        node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    )


def brief(source: SourceText, node: ast.expr | ast.keyword, limit: int) -> str:
    """A node's own source text on one line, cut with an ellipsis where it is longer than the limit.

    Of a long call the callee is kept (`nn.Sequential(…)`).
    """
    found = source.beginning(
        node.lineno,
        node.col_offset,
        node.end_lineno or node.lineno,
        node.end_col_offset or node.col_offset,
        limit,
    )
    if len(found) >= limit and isinstance(node, ast.Call) and found.endswith("…"):
        called = brief(source, node.func, limit - 3)
        return found if called.endswith("…") else f"{called}(…)"
    return found


def decorated_span(source: SourceText, node: Function | ast.ClassDef) -> Span:
    """The lines of a definition from its first decorator's `@` on."""
    end = node.end_lineno or node.lineno
    if not node.decorator_list:
        return Span(node.lineno, end)
    line = node.decorator_list[0].lineno
    while line > 1 and not source.row(line).lstrip().startswith("@"):
        line -= 1  # `@(` or `@\` with the decorator itself on a later line
    return Span(line, end)


def signature(source: SourceText, node: Function | ast.ClassDef) -> str:
    """The text from `def` or `class` to before the colon, on one line."""
    end = header_end(source, node)
    if end is None:
        return source.row(node.lineno, node.col_offset).strip()
    return source.between(node.lineno, node.col_offset, *end).rstrip()


def header_end(source: SourceText, node: Function | ast.ClassDef) -> tuple[int, int] | None:
    """The line and column (in bytes) of the colon before the body; nothing where there is none."""
    line, column = node.lineno, node.col_offset
    for part in _header_parts(node):
        if part is not None and part.end_lineno is not None and part.end_col_offset is not None:
            line, column = max((line, column), (part.end_lineno, part.end_col_offset))
    depth = 0  # brackets opened from here on: type parameters, where the tree does not hold them
    last = min(node.end_lineno or line, len(source.rows))
    while line <= last:  # else no name or string is left before the colon, only brackets, commas and comments
        row = source.row(line, column).partition("#")[0]
        for at, sign in enumerate(row):
            if sign == ":" and depth <= 0:
                return line, column + len(row[:at].encode())
            depth += (sign in "([{") - (sign in ")]}")
        line, column = line + 1, 0
    return None


def _header_parts(
    node: Function | ast.ClassDef,
) -> Iterable[ast.expr | ast.arg | ast.keyword | None]:
    yield from getattr(node, "type_params", ())  # a field of ast from Python 3.12 on
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from node.keywords
        return
    given = node.args
    yield from given.posonlyargs
    yield from given.args
    yield from given.defaults
    yield given.vararg
    yield from given.kwonlyargs
    yield from given.kw_defaults
    yield given.kwarg
    yield node.returns


def parameters(source: SourceText, given: ast.arguments) -> tuple[Parameter, ...]:
    """The parameters of a function in their order."""

    def one(arg: ast.arg, kind: str, default: ast.expr | None) -> Parameter:
        annotation = words(source, arg.annotation) if arg.annotation else ""
        value = words(source, default) if default else ""
        return Parameter(arg.arg, kind, annotation, value)  # type: ignore[arg-type]

    positional = [*((arg, "/") for arg in given.posonlyargs), *((arg, "") for arg in given.args)]
    without = len(positional) - len(given.defaults)
    defaults: list[ast.expr | None] = [*[None] * without, *given.defaults]
    found = [one(arg, kind, default) for (arg, kind), default in zip(positional, defaults, strict=True)]
    if given.vararg:
        found.append(one(given.vararg, "*", None))
    found.extend(
        one(arg, "keyword", default) for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    )
    if given.kwarg:
        found.append(one(given.kwarg, "**", None))
    return tuple(found)


def docstring(body: list[ast.stmt]) -> str:
    """The string that a body begins with, its indentation taken off."""
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        text = first.value.value
        if isinstance(text, str):
            return cleandoc(text if text.isascii() else text.encode("utf-8", "replace").decode())
    return ""
