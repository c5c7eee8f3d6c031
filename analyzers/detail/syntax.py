"""The bytes of a Python file in, its tree and exact text out; syntax too new for `ast` is rewritten."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import Final, Literal

from forwardbook.analyzers.detail.facts import Requirement
from forwardbook.analyzers.detail.newer import older
from forwardbook.analyzers.index.facts import Problem
from forwardbook.analyzers.index.source_text import SourceText, decoded, joined

LIMIT: Final = 200  # the longest text of an expression that is kept whole, in characters
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Syntax:
    """A file as a tree and as text; positions in the tree are positions in the text."""

    source: SourceText
    tree: ast.Module
    parser: Literal["ast", "libcst"]
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
        """A statement's header on one line: up to its body, where it has one."""
        body = getattr(node, "body", None)
        if not isinstance(body, list) or not body:
            return self.text(node)
        first = body[0]
        if first.lineno == node.lineno:
            words = self.source.row(node.lineno, node.col_offset, first.col_offset)
        else:
            lines = [self.source.row(node.lineno, node.col_offset)]
            lines += [self.source.row(line) for line in range(node.lineno + 1, first.lineno)]
            words = joined("\n".join(lines))
        return clipped(words.partition(":  #")[0].rstrip().rstrip(":"))


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
    rewritten = older(source.text)
    if rewritten is None:
        return None, (*problems, refused)
    text, newer = rewritten
    try:
        return Syntax(source, _tree(text, path), "libcst", newer), problems
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, (*problems, refused)


def _tree(text: str, path: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, filename=path)


def _reason(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)
