"""LibCST and tree-sitter, read through the same statements, find what `ast` finds."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import pytest

import forwardbook
from forwardbook.analyzers.index.facts import Definition
from forwardbook.analyzers.index.libcst_statements import statements as by_libcst
from forwardbook.analyzers.index.reading import Reading
from forwardbook.analyzers.index.source_text import decoded
from forwardbook.analyzers.index.tree_sitter_statements import statements
from forwardbook.analyzers.index.tree_sitter_tree import broken_places, parsed

ROOM = Path(forwardbook.__file__).parent
FILES = sorted((ROOM / "analyzers/index").glob("*.py")) + sorted((ROOM / "workspace").glob("*.py"))
EVERYTHING = '''\
"""Module."""
from __future__ import annotations
import a.b as c, d
from ..e import (f as g, h)
from . import *
__all__ = ["x", *["y"]] + ["z"]
__all__ += ("w",)
x: int = 1; y: "str"
a, (b, *rest) = q()[0], (1, 2)
@dec(1)
@mod.dec
class A(B[int], C, metaclass=M, **kw):
    """Doc
    of A."""
    z: (int | None) = None
    @property
    def p(self, /, a: int, b="x", *args: str, c, d: dict[str, int] = {}, **kwargs: int) -> (A | B):
        self.x, self.y = a, [b]
        self.z: int = a.b.c(b)(*args, **kwargs)
        if a is None:
            raise ValueError(f"no {a!r:>{b}} {g(a)}") from None
        elif (n := len(b)) > 1:
            raise
        else:
            raise mod.Error
        try:
            with open(b) as f, (lock): f.read().strip()
        except (OSError, ValueError) as error:
            raise KeyError(a)
        except* X: pass
        finally: self.close()
        while a < b < c: a += 1
        else: pass
        for i, (j, *k) in enumerate(b): yield i
        return [y.z for y in (u.v for u in w if u) if y], {m: n async for m in o}
    async def q(self):
        global gg
        gg = await self.r(x for x in y)
        async with a as (b, c), d: pass
        async for e in f: yield from e
        x[1:2, ...] = x[k].l = lambda s, *t, u=v.w: (yield s.t)
        match x, y:
            case {"k": B.c, **others} if z: raise T(1)
            case [P(m, n=[1, *rest]), "s" | None] as whole: pass
            case _: pass
        assert a, b.c; del a.b
        return (a, b), *c
    static = staticmethod(lambda self: self.x)
def outer():
    def inner(): return Widget().run(1)(2).go
    return inner
if __name__ == "__main__":
    outer()
type(a)(b).c()
xs[0].m("a" "b", k=(1), **{"z": 1})
'''


def found(text: str, body: list[ast.stmt]) -> dict[str, object]:
    """Everything that a reading holds, by what it is."""
    reading = Reading(decoded(text.encode()), ast.Module(body, []))
    facts: dict[str, object] = {
        "docstring": reading.docstring,
        "imports": reading.imports,
        "exports": reading.exports,
        "main": reading.has_main,
        "constants": list(reading.module.bound.values()),
        "calls": reading.module.ordered_calls(),
        "names": [each.qualname for each in reading.definitions],
    }
    for each in reading.definitions:
        facts |= {f"{each.qualname}.{part.name}": getattr(each, part.name) for part in fields(Definition)}
    return facts


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_real_files(path: Path) -> None:
    """On real files the three find the same, to the last column."""
    text = decoded(path.read_bytes()).text
    expected = found(text, ast.parse(text).body)
    assert expected == found(text, by_libcst(text))
    assert expected == found(text, list(statements(parsed(text).named_children)))


def test_every_construct() -> None:
    """So they do on every construct of Python 3.11 (LibCST knows no `except*` beside `except`)."""
    text = EVERYTHING.replace("        except* X: pass\n", "")
    expected = found(text, ast.parse(text).body)
    assert not broken_places(parsed(text))
    assert expected == found(text, list(statements(parsed(text).named_children)))
    assert expected == found(text, by_libcst(text))


def test_not_ascii() -> None:
    """Columns count bytes of UTF-8 and names are normalised, whoever parses."""
    text = 'class ﬁ(Ä): é = "日本"; ö(é, "ß").ñ(é)\n'
    expected = found(text, ast.parse(text).body)
    assert ["fi"] == expected["names"]
    assert expected == found(text, by_libcst(text))
    assert expected == found(text, list(statements(parsed(text).named_children)))
