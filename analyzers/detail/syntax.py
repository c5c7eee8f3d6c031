"""The bytes of a Python file in, its tree and exact text out; syntax too new for `ast` is rewritten."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import Final, Literal

from forwardbook.analyzers.detail.facts import Requirement
from forwardbook.analyzers.index.facts import Problem
from forwardbook.analyzers.index.header import signature
from forwardbook.analyzers.index.source_text import SourceText, decoded

LIMIT: Final = 200  # the longest text of an expression that is kept whole, in characters
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Syntax:
    """A file as a tree and as text; positions in the tree are positions in the text."""

    source: SourceText
    tree: ast.Module
    parser: Literal["ast", "libcst", "tree-sitter"]
    newer: tuple[Requirement, ...] = ()  # what was rewritten so that this Python's `ast` takes it

    def text(
        self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.pattern, limit: int = LIMIT
    ) -> str:
        """The node as written, on one line, cut with an ellipsis where it is longer than the limit."""
        return self.source.beginning(
            node.lineno,
            node.col_offset,
            node.end_lineno or node.lineno,
            node.end_col_offset or node.col_offset,
            limit,
        )

    def first_line(self, node: ast.stmt) -> str:
        """A statement's header on one line: up to the colon before its body, where it has one."""
        if isinstance(node, Function | ast.ClassDef):
            return clipped(signature(self.source, node))
        if not isinstance(getattr(node, "body", None), list):
            return self.text(node)
        line, column = node.lineno, node.col_offset
        for part in _header(node):
            line, column = max((line, column), (part.end_lineno or 0, part.end_col_offset or 0))
        last = node.body[0].lineno  # type: ignore[attr-defined]
        rest = self.source.row(line, column).partition("#")[0]
        if ":" not in rest and line < last:
            return clipped(self.source.between(node.lineno, node.col_offset, line, column))
        end = column + len(rest.partition(":")[0].encode())
        return clipped(self.source.between(node.lineno, node.col_offset, line, end).rstrip())


def _header(node: ast.stmt) -> list[ast.expr]:
    """The expressions before the colon of a statement with a body."""
    if isinstance(node, ast.With | ast.AsyncWith):
        both = [(item.context_expr, item.optional_vars) for item in node.items]
        return [each for pair in both for each in pair if each is not None]
    found = [getattr(node, name, None) for name in ("test", "target", "iter", "subject")]
    return [each for each in found if isinstance(each, ast.expr)]


def clipped(words: str, limit: int = LIMIT) -> str:
    """The words, cut with an ellipsis where they are longer than the limit."""
    return words if len(words) <= limit else words[: limit - 1] + "…"


def parsed(path: str, data: bytes) -> tuple[Syntax | None, tuple[Problem, ...]]:
    """The tree of a file and what is wrong with it; no tree where neither parser takes it."""
    source = decoded(data)
    problems = tuple(source.problems)
    try:
        return Syntax(source, _tree(source.text, path), "ast"), problems
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        refused = Problem(getattr(error, "lineno", 0) or 0, f"{type(error).__name__}: {_reason(error)}")
        if not isinstance(error, SyntaxError):
            return None, (*problems, refused)
    from forwardbook.analyzers.detail.newer import older  # LibCST is slow to load

    rewritten = older(source.text)
    try:
        if rewritten is not None:
            text, newer = rewritten
            return Syntax(source, _tree(text, path), "libcst", newer), problems
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return _broken(source, (*problems, refused))


def _broken(source: SourceText, problems: tuple[Problem, ...]) -> tuple[Syntax | None, tuple[Problem, ...]]:
    """What can be read of a broken file."""
    from forwardbook.analyzers.index.broken_text import readable_statements

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, broken = readable_statements(source.text)
    except (ValueError, RecursionError, MemoryError):
        return None, problems
    if not found:
        return None, problems
    tree = ast.Module(found, [])
    for node in ast.walk(tree):
        if getattr(node, "body", None) == [] and not isinstance(node, ast.Module):
            line = getattr(node, "lineno", 1)
            node.body = [ast.Pass(lineno=line, col_offset=0, end_lineno=line, end_col_offset=0)]  # type: ignore[attr-defined]
    return Syntax(source, tree, "tree-sitter"), (*problems, *broken)


def _tree(text: str, path: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, filename=path)


def _reason(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)
