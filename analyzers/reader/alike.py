"""Two classes of the same code but for names, in; out which lines of one are which of the other.

Comments, docstrings and how a statement is broken into lines may differ: nodes of both are paired instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from forwardbook.analyzers.reader.family import definition_of, is_of_family, kept_fields
from forwardbook.analyzers.reader.sources import Sources

Span = tuple[int, int]
"""The first and the last line of a statement or expression."""


def spans_alike(full_name: str, other: str, sources: Sources | None = None) -> dict[Span, Span] | None:
    """For each span of lines of a class that of its like in another; None where they are not alike.

    Bases of the same modules are among it; of one in another file of the folder nothing is known. A span is
    left out where different parts that begin and end there are apart in the other.
    """
    sources = sources or Sources()
    definitions = list(_definitions(full_name, other, sources))
    if not definitions or any(mine is None or theirs is None for mine, theirs in definitions):
        return None
    pairs = [pair for mine, theirs in definitions for pair in _pairs(mine, theirs)]
    if any(a is None or b is None or type(a) is not type(b) for a, b in pairs):
        return None
    known = [(a, b) for a, b in pairs if isinstance(a, ast.stmt | ast.expr)]
    expressions = _spans((a, b) for a, b in known if isinstance(a, ast.expr))
    return {**expressions, **_spans((a, b) for a, b in known if isinstance(a, ast.stmt))}


def _definitions(
    full_name: str, other: str, sources: Sources
) -> Iterator[tuple[ast.stmt | None, ast.stmt | None]]:
    """Two classes, and their bases as far as these are of their folders; None for one in another file."""
    mine, theirs = definition_of(full_name, sources), definition_of(other, sources)
    yield mine, theirs
    if isinstance(mine, ast.ClassDef) and isinstance(theirs, ast.ClassDef):
        module, elsewhere = full_name.rpartition(".")[0], other.rpartition(".")[0]
        for a, b in zip(mine.bases, theirs.bases, strict=False):
            if isinstance(a, ast.Name) and isinstance(b, ast.Name):
                bases = f"{module}.{a.id}", f"{elsewhere}.{b.id}"
                if any(is_of_family(base, sources) for base in bases):
                    yield from _definitions(*bases, sources)


def _pairs(mine: object, theirs: object) -> Iterator[tuple[ast.AST | None, ast.AST | None]]:
    """Nodes in the same place of two trees, as long as these are alike; with None where one has more."""
    if isinstance(mine, list) and isinstance(theirs, list):
        for a, b in zip_longest(mine, theirs):
            yield from _pairs(a, b)
    elif isinstance(mine, ast.AST) and isinstance(theirs, ast.AST):
        yield mine, theirs
        fields: Mapping[str, object] = dict(kept_fields(theirs))
        for name, value in kept_fields(mine):
            yield from _pairs(value, fields.get(name))
    elif isinstance(mine, ast.AST) or isinstance(theirs, ast.AST):
        yield None, None


def _spans(pairs: Iterator[tuple[ast.AST, ast.AST | None]]) -> dict[Span, Span]:
    found: dict[Span, Span] = {}
    apart: set[Span] = set()
    for mine, theirs in pairs:
        here, there = _span(mine), _span(theirs)
        if found.setdefault(here, there) != there:
            apart.add(here)
    return {here: there for here, there in found.items() if here not in apart}


def _span(node: ast.AST | None) -> Span:
    assert isinstance(node, ast.stmt | ast.expr)
    return node.lineno, node.end_lineno or node.lineno
