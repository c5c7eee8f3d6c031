"""A file in, its constants out: value, the comment that stands with it, and the lines that use it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.detail.facts import Constant, Span
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope

_CAPITALS: Final = re.compile(r"^_{0,2}[A-Z][A-Z0-9_]*$")
LONGEST: Final = 20  # lines of comment above a constant; more is no comment on it
_FINAL: Final = re.compile(r"\bFinal\b")


def constants(file: OpenFile) -> tuple[Constant, ...]:
    """The names in capitals (or annotated `Final`) of the module and its classes, in source order."""
    found: dict[tuple[str, str], Constant] = {}
    for scope in (file.scopes.module, *file.classes):
        for statement, target in _bindings(scope):
            annotation = file.text(statement.annotation) if isinstance(statement, ast.AnnAssign) else ""
            is_named = _CAPITALS.match(target.id) and (scope.around is None or len(target.id.strip("_")) > 1)
            if not is_named and not _FINAL.search(annotation):
                continue
            key = (scope.qualname, target.id)
            if key not in found:
                found[key] = _constant(file, scope, statement, target.id, annotation)
    used = _uses(file, {name for _, name in found})
    return tuple(_with_uses(each, used) for each in sorted(found.values(), key=lambda each: each.line))


def _bindings(scope: Scope) -> Iterator[tuple[ast.Assign | ast.AnnAssign, ast.Name]]:
    for node in scope.each(ast.Assign, ast.AnnAssign):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield node, target
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node, node.target


def _constant(
    file: OpenFile, scope: Scope, node: ast.Assign | ast.AnnAssign, name: str, annotation: str
) -> Constant:
    assert node.value is not None
    span = Span(node.lineno, node.end_lineno or node.lineno)
    return Constant(
        name,
        node.lineno,
        span,
        file.text(node.value),
        annotation,
        comment(file, node),
        owner=scope.qualname,
    )


def comment(file: OpenFile, node: ast.stmt) -> str:
    """The comment after a statement on its line, else the string or comment lines that belong to it."""
    source = file.syntax.source
    end = node.end_lineno or node.lineno
    after = source.row(end, node.end_col_offset or 0).strip().lstrip(";,) ")
    if after.startswith("#"):
        return after.lstrip("#: ").strip()
    if end > node.lineno:
        first = _comment_in(source.row(node.lineno, node.col_offset))
        if first:
            return first
    lines: list[str] = []
    line = node.lineno - 1
    while line > 0 and len(lines) < LONGEST and source.row(line).lstrip().startswith("#"):
        if len(source.row(line)) - len(source.row(line).lstrip()) != node.col_offset:
            break
        lines.insert(0, source.row(line).strip().lstrip("#:! ").strip())
        line -= 1
    return " ".join(each for each in lines if each.strip("-=*# "))


def _comment_in(row: str) -> str:
    """The comment at the end of the first line of a statement that goes on."""
    if "#" not in row:
        return ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(row + "\n").readline):
            if token.type == tokenize.COMMENT:
                return token.string.lstrip("#: ").strip()
    except (tokenize.TokenError, SyntaxError):
        pass
    return ""


def _uses(file: OpenFile, names: set[str]) -> dict[str, set[int]]:
    """The lines on which each of the names is read."""
    found: dict[str, set[int]] = {name: set() for name in names}
    for scope in file.scopes.every:
        for name in scope.each(ast.Name):
            if name.id in found and not isinstance(name.ctx, ast.Store):
                found[name.id].add(name.lineno)
        for read in scope.each(ast.Attribute):
            if read.attr in found and isinstance(read.ctx, ast.Load):
                found[read.attr].add(read.lineno)
    return found


def _with_uses(constant: Constant, used: dict[str, set[int]]) -> Constant:
    lines = tuple(sorted(line for line in used[constant.name] if line not in constant.span))
    return Constant(
        constant.name,
        constant.line,
        constant.span,
        constant.value,
        constant.annotation,
        constant.comment,
        lines,
        constant.owner,
    )
