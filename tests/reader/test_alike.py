"""Lines of a class are found in its copy, however either is commented and broken into lines."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.analyzers.reader.alike import Span, spans_alike

ANT = '''from torch import nn


class AntBase(nn.Module):
    def forward(self, x):
        y = x + 1
        return y


class Ant(AntBase):
    """Does what ants do."""

    def run(self, x: int) -> int:
        # twice
        y = x * 2
        return self.other(y, x)
'''
BEE = '''from torch import nn


class BeeBase(nn.Module):
    """Has a docstring."""

    def forward(self, x):
        y = x + 1
        return y


class Bee(BeeBase):
    def run(self, x):
        y = x * 2

        return self.other(
            y,
            x,
        )
'''

Alike = Callable[[str, str], dict[Span, Span] | None]


@pytest.fixture
def alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alike:
    """The spans of `Ant` in `Bee`, each in a package of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def found(ant: str, bee: str) -> dict[Span, Span] | None:
        for name, text in (("ants", ant), ("bees", bee)):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "__init__.py").write_text("", encoding="utf-8")
            (tmp_path / name / "parts.py").write_text(text, encoding="utf-8")
        return spans_alike("ants.parts.Ant", "bees.parts.Bee")

    return found


def test_statements_are_found_in_their_copies(alike: Alike) -> None:
    """Below a docstring, after a comment, broken into lines, and in a base of the same module."""
    found = alike(ANT, BEE)
    assert found is not None

    assert {(15, 15): (14, 14), (16, 16): (16, 19), (6, 6): (8, 8), (7, 7): (9, 9)}.items() <= found.items()


def test_each_statement_is_led_to_one_that_does_the_same(alike: Alike) -> None:
    """With names of families taken out the statements of both spans read alike."""
    found = alike(ANT, BEE)
    assert found is not None
    mine, theirs = _returns(ANT), _returns(BEE)

    assert [ast.dump(one) for one in mine.values()] == [ast.dump(theirs[found[span]]) for span in mine]


def _returns(text: str) -> dict[Span, ast.Return]:
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Return))
    return {(node.lineno, node.end_lineno or 0): node for node in nodes}


@pytest.mark.parametrize(
    "changed",
    [
        BEE.replace("return y\n", "z = y\n        return z\n"),
        BEE.replace("x * 2", "-x"),
        BEE.replace("class Bee(", "class Wasp("),
    ],
)
def test_what_is_not_alike_has_no_spans(alike: Alike, changed: str) -> None:
    """A statement more, another kind of expression, no such class."""
    assert alike(ANT, changed) is None


def test_a_base_of_another_file_of_the_folder_is_not_known(alike: Alike) -> None:
    """Its lines would be those of another file."""
    base = "from ants.base import AntBase\n\n\nclass Other(nn.Module)"
    elsewhere = ANT.replace("class AntBase(nn.Module)", base)

    assert alike(elsewhere, BEE) is None
