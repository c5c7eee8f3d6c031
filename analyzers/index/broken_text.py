"""The text of a broken Python file in, the statements that can be read and what is broken where out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.index.facts import Problem
from forwardbook.analyzers.index.tree_sitter_statements import statements
from forwardbook.analyzers.index.tree_sitter_tree import broken_places, parsed, python_2_places

_BEGINS: Final = re.compile(r"^(?!(?:else|elif|except|finally)\b)[@\w]", re.MULTILINE)
_TOGETHER: Final = 12  # pieces tried as one: a string or bracket may hold lines that look like a beginning
_MOST: Final = 2_000  # pieces; beyond that the file is read as a whole


def readable_statements(text: str) -> tuple[list[ast.stmt], list[Problem]]:
    """What tree-sitter makes of a file; where it finds errors, of every piece that begins at the margin.

    One unclosed bracket spoils all that follows it, so a file with errors is cut where lines begin at the
    margin, and pieces that are whole are read by `ast`.
    """
    root = parsed(text)
    if not root.has_error:
        return list(statements(root.named_children)), python_2_places(root)
    starts = [match.start() for match in _BEGINS.finditer(text)]
    if not 1 < len(starts) <= _MOST:
        return list(statements(root.named_children)), broken_places(root)
    found: list[ast.stmt] = []
    problems: list[Problem] = []
    for start, end, tree in _pieces(text, starts):
        above = text.count("\n", 0, start)
        if tree is not None:
            found.extend(ast.increment_lineno(tree, above).body)
        else:
            piece = parsed("\n" * above + text[start:end])
            found.extend(statements(piece.named_children))
            problems.extend(broken_places(piece))
    return found, problems


def _pieces(text: str, starts: list[int]) -> Iterator[tuple[int, int, ast.Module | None]]:
    """Stretches of the text from one beginning to another, each with its tree where it is whole."""
    ends = [*starts[1:], len(text)]
    at = 0
    while at < len(starts):
        for last in range(at, min(at + _TOGETHER, len(starts))):
            try:
                yield starts[at], ends[last], ast.parse(text[starts[at] : ends[last]])
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            at = last
            break
        else:
            yield starts[at], ends[at], None
        at += 1
