"""What one pass over a module notes: calls, raises, bound names, imports, exports."""

from __future__ import annotations

import ast

import pytest

from forwardbook.analyzers.index.facts import Attribute, Definition, FileFacts, Import, Parameter
from forwardbook.analyzers.index.python import index_python


def read(text: str) -> FileFacts:
    """The facts of a text."""
    return index_python("pkg/a.py", text.encode(), "pkg.a")


def only(text: str) -> Definition:
    """The one definition of a text."""
    (found,) = read(text).definitions
    return found


CALLEES = {
    "f(1)": "f",
    "a.b.c()": "a.b.c",
    "super().m()": "super().m",
    "A(1).m()": "A().m",
    "f(f()())": "f()",
    "xs[0].m()": "xs[].m",
    "'x'.join(y)": "().join",
    "(await x).m()": "().m",
    "(a or b)(1)": "()",
}


@pytest.mark.parametrize("text", CALLEES)
def test_callee(text: str) -> None:
    """A callee is written with its names, its calls and its items; any other part without a name is `()`."""
    assert CALLEES[text] == read(f"async def f():\n    {text}").definitions[0].calls[-1].target


def test_calls_are_those_of_ast() -> None:
    """Every call of a file is in one definition (or the module) and there once, as `ast.walk` counts them."""
    text = ast.__loader__.get_source("ast")  # type: ignore[union-attr, attr-defined]
    facts = read(text)
    found = [call for each in facts.definitions for call in each.calls] + list(facts.calls)
    expected = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    assert len(expected) == len(found)
    assert {(node.lineno, node.col_offset) for node in expected} == {(c.line, c.column) for c in found}


def test_calls_belong_to_who_makes_them() -> None:
    """Decorators and defaults are called around a function, what is nested within it by itself."""
    facts = read("@deco(1)\ndef f(x=default()):\n    def g(): inner()\n    return (lambda: late())\nf()")
    assert ["deco", "default", "f"] == [call.target for call in facts.calls]
    assert {"f": ["late"], "f.g": ["inner"]} == {
        each.qualname: [call.target for call in each.calls] for each in facts.definitions
    }


def test_arguments() -> None:
    """Arguments are as written, in their order, long ones cut."""
    call = read(f"f(1, *a, k=(2), **b, x='{'y' * 200}')").calls[0]
    assert ("1", "*a", "k=2", "**b") == call.arguments[:4]
    assert call.arguments[4].startswith("x='yyy") and call.arguments[4].endswith("…")
    assert 82 == len(call.arguments[4])


RAISED = {
    "raise ValueError('x')": ("ValueError", ""),
    "raise": ("", ""),
    "raise errors.Bad": ("errors.Bad", ""),
    "if x is None:\n        raise A": ("A", "x is None"),
    "if a: pass\n    elif b > 1: raise A": ("A", "b > 1"),
    "if a: pass\n    else: raise A": ("A", "not (a)"),
    "try: pass\n    except (B, C) as e: raise A": ("A", "except (B, C)"),
    "while x: raise A": ("A", "while x"),
    "match x:\n        case [1, y] if y: raise A": ("A", "case [1, y] if y"),
    "for i in x:\n        if i: pass\n        raise A": ("A", ""),
}


@pytest.mark.parametrize("text", RAISED)
def test_raised(text: str) -> None:
    """A raise is noted with its exception and the nearest condition around it."""
    (raised,) = only(f"def f():\n    {text}").raised
    assert RAISED[text] == (raised.exception, raised.condition)


def test_attributes() -> None:
    """A class's attributes are bound in its body or through its methods' first parameter."""
    first = read(
        "class A:\n    x: int = 1\n    def m(this, other):\n        this.y = B()\n        other.z = 1\n"
        "        this.y = None\n        def g(): this.w = 2\n    @staticmethod\n    def s(a): a.v = 1\n"
    ).definitions[0]
    assert (
        Attribute("x", 2, "int", "1"),
        Attribute("y", 4, "", "B()", ("None",)),
        Attribute("w", 7, "", "2"),
    ) == first.attributes


def test_locals() -> None:
    """A function's locals are the names it binds, but parameters, globals and names in expressions."""
    found = only(
        "def f(p):\n    global g\n    g = 1\n    a, b = 1, h()\n    with o() as c: pass\n"
        "    for d in p: pass\n"
        "    try: pass\n    except E as e: pass\n    (z := 2)\n    return [k for k in p]\n"
    )
    assert {"a": "1", "b": "h()", "c": "with o()", "d": "for p", "e": "", "z": "2"} == {
        each.name: each.value for each in found.locals
    }
    assert ["k"] == [each.name for each in found.inner]
    assert ("[k for k in p]",) == found.returned


def test_parameters() -> None:
    """Parameters keep their order, kinds, annotations and defaults as written."""
    assert (
        Parameter("a", "/", "", "1"),
        Parameter("b", "", "x.Y[int]", "'  q'"),
        Parameter("c", "*", "int"),
        Parameter("d", "keyword"),
        Parameter("e", "keyword", "", "(1,\n)".replace("\n", "")),
        Parameter("f", "**"),
    ) == only("def f(a=1, /, b: x.Y[int]='  q', *c: int, d, e=(1,\n), **f): pass").parameters


def test_imports() -> None:
    """Imports keep module, name, alias and level; those that may not happen are guarded."""
    facts = read(
        "import a.b as c, d\nfrom ..x import (y as z,\n w)\nfrom . import *\n"
        "if TYPE_CHECKING:\n    import e\ntry: import f\nexcept ImportError: import g\ndef h(): import i\n"
    )
    assert (
        Import(1, "a.b", alias="c"),
        Import(1, "d"),
        Import(2, "x", "y", "z", 2),
        Import(2, "x", "w", "", 2),
        Import(4, "", "*", "", 1),
        *(Import(line, name, guarded=True) for line, name in ((6, "e"), (7, "f"), (8, "g"), (9, "i"))),
    ) == facts.imports


def test_exports() -> None:
    """`__all__` is the strings of every statement that writes it; None where none does."""
    text = "__all__ = ['a'] + b.__all__\n__all__ += ('c',)\n__all__.extend(['d'])\n__all__.append('e')"
    assert ("a", "c", "d", "e") == read(text).exports
    assert read("x = 1").exports is None


def test_kinds_and_names() -> None:
    """Definitions are told apart, nested names are dotted, and one underscore anywhere makes them private."""
    facts = read(
        "class A:\n    @property\n    def p(self): ...\n    @p.setter\n    def p(self, v): ...\n"
        "    def __len__(self): ...\n    def _m(self): ...\n    async def g(self): yield 1\n"
        "class _B:\n    def m(self): ...\ndef f():\n    class C: ...\n"
    )
    assert [
        ("A", "class", True),
        ("A.p", "property", True),
        ("A.p", "property", True),
        ("A.__len__", "method", True),
        ("A._m", "method", False),
        ("A.g", "method", True),
        ("_B", "class", False),
        ("_B.m", "method", False),
        ("f", "function", True),
        ("f.C", "class", False),
    ] == [(each.qualname, each.kind, each.is_public) for each in facts.definitions]
    generator = facts.definitions[5]
    assert (True, True, "A") == (generator.is_async, generator.is_generator, generator.parent)


def test_main_and_docstring() -> None:
    """The guard of a script is seen either way round, and docstrings lose their indentation."""
    for test in ('__name__ == "__main__"', '"__main__" == __name__'):
        facts = read(f'"""One.\n\n    Two.\n    """\nif {test}: pass')
        assert facts.has_main
        assert "One.\n\nTwo." == facts.docstring
    assert not read("if __name__ == 'x': pass").has_main
