"""Syntax of Python 3.12 to 3.15 is read exactly on any Python: where `ast` fails, LibCST takes it."""

from __future__ import annotations

import pytest

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.analyzers.index.python import index_python

SIGNATURES = {
    "def f[T](x: T) -> T: pass": "def f[T](x: T) -> T",
    "def f[T: (int, str), *Ts, **P](x: T) -> T: pass": "def f[T: (int, str), *Ts, **P](x: T) -> T",
    "def f[T = int](x: T): pass": "def f[T = int](x: T)",
    "class A[T: int = str](B[T]): pass": "class A[T: int = str](B[T])",
    "@dec\nasync def f[\n    T,  # comment\n](x): pass": "async def f[T,](x)",
}


def read(text: str) -> FileFacts:
    """The facts of a text, which must be whole."""
    facts = index_python("a.py", text.encode(), "a")
    assert facts.parser in ("ast", "libcst")
    return facts


@pytest.mark.parametrize("text", SIGNATURES)
def test_type_parameters(text: str) -> None:
    """Type parameters, with bounds and defaults, belong to the signature."""
    assert SIGNATURES[text] == read(text).definitions[0].signature


def test_type_alias() -> None:
    """`type X = ...` binds a constant with the annotation `type`."""
    (alias,) = read("type Alias[T] = list[T]").constants
    assert ("Alias", "type", "list[T]") == (alias.name, alias.annotation, alias.value)


CALLING = {
    "nested quotes": "f\"{a(b['x'], f'{c()}')}\"",
    "quotes of its own kind": "f'{a(b['x'], f'{c()}')}'",
    "template string": "t'{a(c())!r:>{w}}'",
}


@pytest.mark.parametrize("name", CALLING)
def test_calls_in_strings(name: str) -> None:
    """Calls in the braces of a string count, whatever quotes it has."""
    assert ["a", "c"] == [call.target for call in read(f"x = {CALLING[name]}").calls]


def test_except_without_brackets() -> None:
    """`except A, B:` catches two (as in Python 3.14), with its condition as written."""
    found = read("def f():\n    try: g()\n    except A, B: raise C").definitions[0]
    assert [("C", "except A, B")] == [(each.exception, each.condition) for each in found.raised]


def test_lazy_import() -> None:
    """A lazy import is an import."""
    facts = index_python("a.py", b"lazy import a.b as c\nlazy from d import e\nx = 1\n", "a")
    assert ["a.b", "d"] == [each.module for each in facts.imports]


def test_said_so() -> None:
    """That the running Python does not parse a file is a problem with its line."""
    facts = read("x = 1\ntype Y = int\n")
    if facts.parser == "libcst":
        (problem,) = facts.problems
        assert 2 == problem.line
        assert "read by LibCST" in problem.what
    assert () == read("x = 1\n").problems
