"""Broken and hostile files give the facts of what can be read, problems for the rest, and never an error."""

from __future__ import annotations

from time import process_time

import pytest

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.analyzers.index.libcst_nesting import parses_safely
from forwardbook.analyzers.index.python import index_python


def read(data: bytes) -> FileFacts:
    """The facts of a file."""
    return index_python("a.py", data, "a")


def names(facts: FileFacts) -> list[tuple[str, int, int]]:
    """Qualified name and span of every definition."""
    return [(each.qualname, each.span.start, each.span.end) for each in facts.definitions]


def test_syntax_error() -> None:
    """An unclosed bracket spoils the statement that it stands in, not the class after it."""
    facts = read(
        b"import os\ndef f(x):\n    return g(x\n\nclass A:\n    def m(self):\n        self.x = h()\n"
    )
    assert [("f", 2, 3), ("A", 5, 7), ("A.m", 6, 7)] == names(facts)
    assert ["os"] == [each.module for each in facts.imports]
    assert {3} == {problem.line for problem in facts.problems}


def test_lines_that_look_like_beginnings() -> None:
    """Text at the margin within a string does not end the definition that it stands in."""
    facts = read(b'def f():\n    """\nclass No:\n"""\n    return 1\n\nx = )\ndef g(): pass\n')
    assert [("f", 1, 5), ("g", 8, 8)] == names(facts)


def test_python_2() -> None:
    """Python 2 keeps its definitions, calls and imports, and is called Python 2."""
    facts = read(
        b"import os\nclass A:\n    def f(self, (a, b)):\n        print 'x', g(a)\n        try: h()\n"
        b"        except IOError, e:\n            raise ValueError, 'x'\n        print >>f, 0777, a <> b\n"
    )
    assert [("A", 2, 8), ("A.f", 3, 8)] == names(facts)
    assert ["g", "h"] == [call.target for call in facts.definitions[1].calls]
    assert ["ValueError"] == [each.exception for each in facts.definitions[1].raised]
    assert any("Python 2" in problem.what for problem in facts.problems)


ENCODINGS = {
    "latin-1 without a word": ("# caf\xe9\ndef f(): pass\n".encode("latin-1"), "latin-1", True),
    "latin-1 as declared": (
        "# coding: latin-1\ndef f(): pass  # \xe9\n".encode("latin-1"),
        "iso8859-1",
        False,
    ),
    "cp1251 as declared": (
        "#!x\n# vim: fileencoding=cp1251\ndef f(): 'ж'\n".encode("cp1251"),
        "cp1251",
        False,
    ),
    "byte order mark": (b"\xef\xbb\xbfdef f(): pass\n", "utf-8", False),
    "no such encoding": (b"# coding: nonsense\ndef f(): pass\n", "utf-8", True),
    "no encoding of text": (b"# coding: rot13\ndef f(): pass\n", "utf-8", True),
    "utf-16": ("def f(): pass\n".encode("utf-16"), "utf-16", True),
    "NUL": (b"x = 1\0\ndef f(): pass\n", "utf-8", True),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_encoding(name: str) -> None:
    """A file is read in the encoding it declares, and what it then still holds is named."""
    data, encoding, has_problem = ENCODINGS[name]
    facts = read(data)
    assert (encoding, has_problem) == (facts.encoding, bool(facts.problems))
    assert ["f"] == [each.name for each in facts.definitions]


def test_empty() -> None:
    """An empty file has no lines, no facts and no problems."""
    facts = read(b"")
    assert (0, (), (), "ast") == (facts.lines, facts.definitions, facts.problems, facts.parser)


DEEP = {
    "brackets": b"x=" + b"(" * 50_000 + b")" * 50_000,
    "open brackets": b"def f(:\n" + b"[(" * 50_000,
    "signs": b"x=" + b"-" * 100_000 + b"1\ndef f(): pass\n",
    "sums": b"x=" + b"1+" * 100_000 + b"1\n",
    "calls": b"x" + b".a()" * 50_000,
    "lambdas": b"x=" + b"lambda:" * 20_000 + b"1\n",
    "choices": b"if a: pass\n" + b"elif b(): raise X\n" * 20_000,
    "blocks": b"".join(b" " * i + b"if a:\n" for i in range(300)) + b" " * 300 + b"pass\n",
    "definitions": b"".join(b" " * i + b"def f():\n" for i in range(95)) + b" " * 95 + b"pass\n",
    "quotes": b"'''a\"\"\"'\"\\" * 20_000,
    "one line of 3 MB": b"x=1;" * 750_000,
    "one string of 3 MB": b"x='" + b"a" * 3_000_000 + b"'\n",
    "one list of 3 MB": b"x=[" + b"1," * 1_500_000 + b"]\ndef f(): pass\n",
    "every byte": bytes(range(256)) * 1_000,
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_and_long(name: str) -> None:
    """However deep or long, a file is read in a few seconds, and its lines are counted whole."""
    start = process_time()
    facts = read(DEEP[name])
    assert process_time() - start < 10
    assert max(1, DEEP[name].count(b"\n")) <= facts.lines


def test_part_is_said() -> None:
    """That only the beginning of a file was read is a problem; what stands in it is there."""
    facts = read(b"def f(): pass\n" + b"x=1;" * 750_000)
    assert [("f", 1, 1)] == names(facts)
    assert any("only the first" in problem.what for problem in facts.problems)


def test_guard_of_libcst() -> None:
    """What would overflow LibCST's parser is kept from it; ordinary files are not."""
    deep = [
        DEEP[name] for name in ("brackets", "open brackets", "signs", "sums", "calls", "lambdas", "choices")
    ]
    assert [False] * len(deep) == [parses_safely(text.decode()) for text in deep]
    assert not parses_safely('x = f"{' * 2_000)
    with open(__file__, encoding="utf-8") as file:
        assert parses_safely(file.read())
    assert parses_safely("table = [" + "-1, (2 + 3), {'a': not b},\n" * 3_000 + "]")
