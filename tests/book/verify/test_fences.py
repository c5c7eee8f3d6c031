"""Signatures, quotations and examples in blocks of code."""

from __future__ import annotations

import pytest

from forwardbook.book.verify import Verifier

OURS = '---\nchecksum: "sha256:0"\n---\n\n'
TRUE = {
    "on one line": "# shapes/base.py:35-39\ndef shorten(text: str, width: int) -> str: ...",
    "in lines": "# shapes/base.py:35-39\ndef shorten(\n    text: str,\n    width: int,\n) -> str:\n    ...",
    "a class and a method": "# shapes/flat.py:8-17\nclass Circle(Shape):\n    def area(self) -> float: ...",
    "with its decorator": "# shapes/base.py:25-27\n@abstractmethod\ndef area(self) -> float: ...",
    "a quotation": "# from shapes/flat.py:44-45\n    start = add(start, shape.area())\nreturn start",
    "an example": "from shapes import Circle\nCircle(2).area()",
    "a prompt": ">>> from shapes.flat import add\n>>> add(1, 2)\n3",
    "newer syntax": "type Pair[T] = tuple[T, T]",
}
FALSE = {
    "another name": "# shapes/base.py:35-39\ndef shorter(text: str, width: int) -> str: ...",
    "another default": "# shapes/flat.py:25-26\ndef __init__(self, side: float, name: str = 4) -> None: ...",
    "another type": "# shapes/flat.py:41-45\ndef total(shapes: list[Shape], start: int = 0.0) -> float: ...",
    "another order": "# shapes/base.py:35-39\ndef shorten(width: int, text: str) -> str: ...",
    "another result": "# shapes/base.py:35-39\ndef shorten(text: str, width: int) -> bytes: ...",
    "another base": "# shapes/flat.py:8-17\nclass Circle(Square): ...",
    "other lines": "# shapes/base.py:35-38\ndef shorten(text: str, width: int) -> str: ...",
    "another decorator": "# shapes/base.py:25-27\n@staticmethod\ndef area(self) -> float: ...",
    "a changed quotation": "# from shapes/flat.py:44-45\n    start = add(start, shape.area())\nreturn begin",
    "no Python": "from shapes import Circle\nCircle(2",
    "an import of nothing": "from shapes.flat import Triangle",
    "an import from nowhere": "import shapes.round",
}


@pytest.mark.parametrize("what", TRUE)
def test_true_block(what: str, verifier: Verifier) -> None:
    """Every claim of the block is supported."""
    claims = verifier.verify(f"{OURS}```python\n{TRUE[what]}\n```\n", "docs/page.md")

    assert {"supported"} == {claim.state for claim in claims}, claims


@pytest.mark.parametrize("what", FALSE)
def test_false_block(what: str, verifier: Verifier) -> None:
    """A claim of the block is contradicted."""
    claims = verifier.verify(f"{OURS}```python\n{FALSE[what]}\n```\n", "docs/page.md")

    assert "contradicted" in {claim.state for claim in claims}


def test_commands_of_a_notebook_are_not_judged(verifier: Verifier) -> None:
    """A block with shell commands in it is no faulty Python."""
    claims = verifier.verify("```python\n!pip install shapes\nimport shapes\n```\n", "README.md")

    assert ["unverified"] == [claim.state for claim in claims]
