"""The statement at a place of the source: what its result is called, and whether a loop hangs on it."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from forwardbook.analyzers.symbolic.trace import Place

_Point = tuple[int, int]
"""A line and a column."""


@dataclass(frozen=True, slots=True)
class _Test:
    """Where a test begins and ends that a `while` hangs on, and whether it goes on where that is true."""

    first: _Point
    last: _Point
    goes_on: bool
    negations: tuple[tuple[_Point, _Point], ...]


@dataclass(frozen=True, slots=True)
class _Read:
    named: tuple[tuple[int, int, tuple[str, ...]], ...]
    """First line, last line and names of each statement that has one; inner ones come later."""
    tests: tuple[_Test, ...]


def code_at(place: Place) -> str:
    """The first line of a place, as it is written."""
    return linecache.getline(place.file, place.line).strip()


def names_at(place: Place) -> tuple[str, ...]:
    """What the statement of a place assigns to, else what it indexes by; none where it does neither."""
    found = [names for first, last, names in _read(place.file).named if first <= place.line <= last]
    return found[-1] if found else ()


def goes_on(place: Place) -> bool | None:
    """Whether a `while` goes on where what is asked at a place is true; None where none hangs on it."""
    first, last = (place.line, place.col), (place.end_line, place.end_col)
    for test in _read(place.file).tests:
        if test.first <= first and last <= test.last:
            negated = sum(begin <= first and last <= end for begin, end in test.negations)
            return test.goes_on != bool(negated % 2)
    return None


@lru_cache(maxsize=64)
def _read(file: str) -> _Read:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return _Read((), ())
    nodes = list(ast.walk(tree))
    named = sorted(one for node in nodes for one in _named(node))
    tests = (test for node in nodes if isinstance(node, ast.While) for test in _tests(node))
    return _Read(tuple(named), tuple(tests))


def _tests(loop: ast.While) -> Iterator[_Test]:
    """What a loop asks before each round, and what it is left by."""
    yield _test(loop.test, goes_on=True)
    for one in loop.body:
        if isinstance(one, ast.If) and isinstance(one.body[-1], ast.Break):
            yield _test(one.test, goes_on=False)


def _test(node: ast.expr, goes_on: bool) -> _Test:
    inner = (one for one in ast.walk(node) if isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not))
    return _Test(*_span(node), goes_on, tuple(map(_span, inner)))


def _named(node: ast.AST) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The lines of a statement without others in it, and the names of its results."""
    if isinstance(node, ast.Assign):
        yield node.lineno, node.end_lineno or node.lineno, tuple(_names(node.targets[0]))
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        yield node.lineno, node.end_lineno or node.lineno, tuple(_names(node.target))
    elif isinstance(node, ast.For):
        yield node.iter.lineno, node.iter.end_lineno or node.iter.lineno, tuple(_names(node.target))
    elif isinstance(node, ast.Return | ast.Expr):
        slices = (one.slice for one in ast.walk(node) if isinstance(one, ast.Subscript))
        names = tuple(one.id for one in slices if isinstance(one, ast.Name))
        yield node.lineno, node.end_lineno or node.lineno, names[:1]


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _names(one)
    elif isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield target.attr
    elif isinstance(target, ast.Subscript | ast.Starred):
        yield from _names(target.value)


def _span(node: ast.expr) -> tuple[_Point, _Point]:
    last = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    return (node.lineno, node.col_offset), last
