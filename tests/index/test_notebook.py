"""The code cells of a notebook are read as Python, by the lines of the notebook file."""

from __future__ import annotations

import json

import pytest

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.analyzers.index.one_file import index_file

CELLS = [
    ("markdown", "class No: pass"),
    ("code", "%matplotlib inline\nimport os\n\ndef f(x):\n    !ls\n    return g(x)\n"),
    ("code", "%%bash\nls def"),
    ("code", "class Á:\n    x = 5 % 3\n    y = f(1)"),
]


def notebook(cells: list[tuple[str, str]] = CELLS, language: str = "python") -> dict[str, object]:
    """A notebook with these cells."""
    return {
        "cells": [{"cell_type": kind, "source": text.splitlines(keepends=True)} for kind, text in cells],
        "metadata": {"kernelspec": {"language": language}},
    }


def read(text: str) -> FileFacts:
    """The facts of a notebook's text."""
    return index_file("a.ipynb", text.encode(), "a")


@pytest.mark.parametrize("ascii_only", [True, False])
def test_lines(ascii_only: bool) -> None:
    """A definition's span is where its lines stand in the file, however its characters are escaped."""
    text = json.dumps(notebook(), indent=1, ensure_ascii=ascii_only)
    facts, lines = read(text), text.splitlines()
    first, second = facts.definitions
    assert ("def f(x):", "return g(x)") == (
        json.loads(lines[first.span.start - 1].strip().rstrip(",")).strip(),
        json.loads(lines[first.span.end - 1].strip().rstrip(",")).strip(),
    )
    assert ("Á", 3) == (second.name, second.span.end - second.span.start + 1)
    assert ("ast", len(lines), ()) == (facts.parser, facts.lines, facts.problems)
    assert ["os"] == [each.module for each in facts.imports]


def test_compact() -> None:
    """Where the file has no lines of its own for the code, lines are those of the code, which is said."""
    facts = read(json.dumps(notebook()))
    assert ["f", "Á"] == [each.name for each in facts.definitions]
    assert facts.definitions[-1].span.end <= facts.lines
    assert "within the code" in facts.problems[0].what


def test_broken_cell() -> None:
    """A cell that is no Python spoils no other."""
    facts = read(json.dumps(notebook([*CELLS, ("code", "f(1"), ("code", "def last(): pass")]), indent=1))
    assert ["f", "Á", "last"] == [each.name for each in facts.definitions]
    assert facts.problems


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"cells": 1}', '{"cells": [1, {"cell_type": "code"}]}']
)
def test_no_notebook(text: str) -> None:
    """What is no notebook has no definitions, and no error comes of it."""
    assert () == read(text).definitions


def test_other_language() -> None:
    """Cells in another language are not taken for Python."""
    facts = read(json.dumps(notebook(language="R")))
    assert ((), "its code is r, not Python") == (facts.definitions, facts.problems[0].what)
