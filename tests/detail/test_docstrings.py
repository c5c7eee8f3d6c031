"""Parts of docstrings in the three styles."""

from __future__ import annotations

import pytest

from forwardbook.analyzers.detail.docstrings import Said, summary, understood

GOOGLE = """Do it
over two lines.

More.

Args:
    a (int): the a
        of it: more.
    *rest: the rest
    call (Callable[[int], str], optional): a callable (or
        nothing).
    b, c: both.

Returns:
    dict[str, int]: the counts.

Raises:
    ValueError: if bad.
    `KeyError`: if missing.

Example:
    not: an argument
"""
NUMPY = """Do it.

Parameters
----------
a : int, optional
    The a.

    More of a.
b, c : float
    Both.
*rest
    The rest.

Returns
-------
ndarray
    The sum.

Raises
------
ValueError
    If bad.
"""
SPHINX = """Do it.

:param int a: the a
    of it
:param b: the b
:type b: str
:returns: the sum
:rtype: float
:raises ValueError: if bad
"""


def test_google_style() -> None:
    """Types in brackets, continued lines, several names at once."""
    found = understood(GOOGLE)
    assert "Do it over two lines." == found.summary
    assert {
        "a": Said("int", "the a of it: more."),
        "rest": Said("", "the rest"),
        "call": Said("Callable[[int], str], optional", "a callable (or nothing)."),
        "b": Said("", "both."),
        "c": Said("", "both."),
    } == found.parameters
    assert Said("dict[str, int]", "the counts.") == found.returns
    assert {"ValueError": "if bad.", "KeyError": "if missing."} == found.raises


def test_numpy_style() -> None:
    """Underlined sections, types after a colon."""
    found = understood(NUMPY)
    assert {
        "a": Said("int, optional", "The a. More of a."),
        "b": Said("float", "Both."),
        "c": Said("float", "Both."),
        "rest": Said("", "The rest."),
    } == found.parameters
    assert Said("ndarray", "The sum.") == found.returns
    assert {"ValueError": "If bad."} == found.raises


def test_sphinx_style() -> None:
    """Fields, with the type in the field or in one of its own."""
    found = understood(SPHINX)
    assert {"a": Said("int", "the a of it"), "b": Said("str", "the b")} == found.parameters
    assert Said("float", "the sum") == found.returns
    assert {"ValueError": "if bad"} == found.raises


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("One.\n\nTwo.", "One."),
        ("Title\n=====\n\nOne.", "One."),
        (":param x: y", ""),
        ("One:\nArgs:\n  x: y", "One:"),
        (">>> f()", ""),
    ],
)
def test_the_summary_is_the_first_paragraph(text: str, expected: str) -> None:
    """Titles, fields and doctests are no summary."""
    assert expected == summary(text)
