"""What holds for a whole file: constants, dependencies, entry, required version, terms, classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forwardbook.analyzers.detail.facts import Dependency, Detail, Span, Term

Read = Callable[..., Detail]


def test_constants_carry_their_comment_and_uses(read: Read) -> None:
    """The comment on the line, else the lines above; uses are the lines that read the name."""
    found = read("""
        from typing import Final
        A = 1  # the first
        # second,
        # in two lines
        B: int = A + 1

        C = "#no comment"
        D = {  # a table
            "x": 1,  # not this
        }
        lower = 3
        size: Final = 4
        T = 5
        def f():
            return A + B
        class K:
            LIMIT = A  # of K
            X = 9
            def g(self):
                return self.LIMIT
        """)
    assert [
        ("A", 2, "1", "the first", (5, 15, 17), ""),
        ("B", 5, "A + 1", "second, in two lines", (15,), ""),
        ("C", 7, '"#no comment"', "", (), ""),
        ("D", 8, '{"x": 1,}', "a table", (), ""),
        ("size", 12, "4", "", (), ""),
        ("T", 13, "5", "", (), ""),
        ("LIMIT", 17, "A", "of K", (20,), "K"),
    ] == [(c.name, c.line, c.value, c.comment, c.uses, c.owner) for c in found.constants]


def test_dependencies_are_split(read: Read) -> None:
    """Standard library, third party, first party; optional where every import may fail."""
    found = read("""
        import os.path, sys
        from numpy import array, zeros
        import numpy as np
        from . import near
        from .other import thing
        from package.deep import more
        try:
            import fast
        except ImportError:
            fast = None
        """).dependencies
    assert [
        Dependency("os", "standard library", (1,), ("path",)),
        Dependency("sys", "standard library", (1,)),
        Dependency("numpy", "third party", (2, 3), ("array", "zeros")),
        Dependency(".", "first party", (4,), ("near",)),
        Dependency(".other", "first party", (5,), ("thing",)),
        Dependency("package.deep", "first party", (6,), ("more",)),
        Dependency("fast", "third party", (8,), (), True),
    ] == list(found)


ENTRIES = [
    ("def f(): ...\nif __name__ == '__main__':\n    f()\n", "p/m.py", ("__main__ guard", 2, ("f()",))),
    ("raise SystemExit(f())\n", "p/__main__.py", ("__main__ file", 1, ("SystemExit(f())",))),
    ("#!/usr/bin/env python\nf()\n", "p/m.py", ("script line", 1, ("f()",))),
    ("x = 1\nprint(x)\n", "p/m.py", ("script body", 2, ("print(x)",))),
    ("def f(): ...\nf()\n", "p/m.py", None),
    ("x = 1\n", "p/m.py", None),
]


@pytest.mark.parametrize(("text", "path", "expected"), ENTRIES)
def test_entry_points(read: Read, text: str, path: str, expected: tuple[Any, ...] | None) -> None:
    """A guard, a main file, a script line or a script's body; a module that declares has none."""
    found = read(text, path).entry
    assert expected == (found and (found.kind, found.line, found.calls))


VERSIONS = [
    ("x = 1", (3, 0)),
    ("f'{x}'", (3, 6)),
    ("x: int", (3, 6)),
    ("def f(a, /): ...", (3, 8)),
    ("(x := 1)", (3, 8)),
    ("def f():\n    return 1, *x", (3, 8)),
    ("def f():\n    return (1, *x)", (3, 0)),
    ("def f(x: list[int]): ...", (3, 9)),
    ("from __future__ import annotations\ndef f(x: list[int] | None): ...", (3, 7)),
    ("def f(x: int | None): ...", (3, 10)),
    ("def f(x: 'int | None'): ...", (3, 0)),
    ("def f():\n    x: int | None = 3", (3, 6)),
    ("x = a | b", (3, 0)),
    ("@a[0]\ndef f(): ...", (3, 9)),
    ("match x:\n    case 1: ...", (3, 10)),
    ("import dataclasses as d\n@d.dataclass(slots=True)\nclass A: ...", (3, 10)),
    ("zip(a, b, strict=True)", (3, 10)),
    ("try: ...\nexcept* E: ...", (3, 11)),
    ("x[*y]", (3, 11)),
    ("x[(*y,)]", (3, 0)),
    ("def f(*a: *T): ...", (3, 11)),
    ("import tomllib", (3, 11)),
    ("try:\n    import tomllib\nexcept ImportError: ...", (3, 0)),
    ("from typing import override", (3, 12)),
    ("import functools\nfunctools.cache(f)", (3, 9)),
    ("def f[T](x: T): ...", (3, 12)),
    ("class A[T: int]: ...", (3, 12)),
    ("type X = int", (3, 12)),
    ('f"{x["a"]}"', (3, 12)),
    ("class A[T = int]: ...", (3, 13)),
    ("t'{x}'", (3, 14)),
    ("try: ...\nexcept A, B: ...", (3, 14)),
]


@pytest.mark.parametrize(("text", "version"), VERSIONS)
def test_the_version_that_the_syntax_needs(read: Read, text: str, version: tuple[int, int]) -> None:
    """Each construct proves its version by a line, also where this Python cannot parse it."""
    found = read(text + "\n")
    assert version == found.minimum_python
    assert all(1 <= each.line <= text.count("\n") + 1 for each in found.requirements)


def test_newer_syntax_is_read_as_far_as_older(read: Read) -> None:
    """Type parameters, nested quotes and bare `except` hide nothing else, and signatures stay as written."""
    found = read('''
        class A[T: int]:
            def f[K](self, x: K) -> T:
                """Do it."""
                try:
                    return g(f"{x["a"]}")
                except B, C:
                    raise D
        ''')
    assert ("class A[T: int]", "def f[K](self, x: K) -> T") == (
        found.classes[0].signature,
        found.functions[0].signature,
    )
    assert "Do it." == found.functions[0].summary
    assert ("B", "C") == found.functions[0].caught[0].exceptions
    assert not found.problems


def test_terms_are_quoted_from_docstrings(read: Read) -> None:
    """Acronyms with their words, sentences that say what a thing is; no pronoun, no parameter."""
    found = read('''
        """Post-Training Quantization (PTQ) and the KV (key value) cache.

        A Hyperparameter is a value that a search may change. This is a sentence.
        """
        def f(x):
            """Use it (see PTQ).

            Args:
                x: The Thing is a number.
            """
        ''').terms
    assert (
        Term("PTQ", "Post-Training Quantization", 1),
        Term("KV", "key value", 1),
        Term("Hyperparameter", "A Hyperparameter is a value that a search may change.", 1),
    ) == found


def test_modules_are_found_through_their_bases(read: Read) -> None:
    """Bases that lead to torch's `Module` by this file's text, with the chain and the span of forward()."""
    found = read("""
        import torch
        import torch.nn as nn
        from torch.nn import Linear as L
        class A(nn.Module):
            def forward(self, x):
                return x
        class B(A): ...
        class C(L): ...
        class D(torch.autograd.Function): ...
        class E(E): ...
        class F(Module): ...
        """).modules
    assert [
        ("A", ("torch.nn.Module",), Span(5, 6)),
        ("B", ("A", "torch.nn.Module"), None),
        ("C", ("torch.nn.Linear",), None),
    ] == [(each.qualname, each.through, each.forward) for each in found]


def test_classes_say_what_they_are_and_hold(read: Read) -> None:
    """Nature by bases and decorators, attributes with their first binding and words, stages of life."""
    found = read('''
        import abc, enum
        from dataclasses import dataclass
        @dataclass
        class A(Base):
            """An A.

            Attributes:
                x: the x of it.
            """
            x: int
            y: str = "a"  # the y
            def setup(self):
                self.z, self.w = 1, 2
                self.v: int = 3
            def run(self): ...
            def close(self): ...
        class B(abc.ABC):
            @abc.abstractmethod
            def f(self): ...
        class C(enum.Enum): ...
        class D(ValueError): ...
        class EMixin: ...
        ''')
    first = found.classes[0]
    assert [
        ("x", 10, "int", "", "the x of it.", ""),
        ("y", 11, "str", '"a"', "the y", ""),
        ("z", 13, "", "", "", "A.setup"),
        ("w", 13, "", "", "", "A.setup"),
        ("v", 14, "int", "3", "", "A.setup"),
    ] == [(a.name, a.line, a.annotation, a.value, a.meaning, a.bound_in) for a in first.attributes]
    assert [("set up", ("A.setup",)), ("use", ("A.run",)), ("tear down", ("A.close",))] == [
        (each.name, each.methods) for each in first.lifecycle
    ]
    assert [("dataclass",), ("abstract",), ("enum",), ("exception",), ("mixin",)] == [
        each.nature for each in found.classes
    ]
    assert found.functions[3].is_abstract
