"""Where a branch asks for a truth: at what it tests, and not at its whole statement."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from forwardbook.analyzers.symbolic.places import place_of
from forwardbook.analyzers.symbolic.trace import Place

_ASKED: list[Place] = []


class Asked:
    """Notes where its truth is asked for, and is false."""

    def __bool__(self) -> bool:
        _ASKED.append(place_of(sys._getframe(1)))
        return False


def asked() -> Asked:
    return Asked()


def branches() -> None:
    if asked():
        raise AssertionError
    while asked() and sys:
        raise AssertionError
    _ = 1 if not asked() else 2
    if sys and asked():
        raise AssertionError


@pytest.mark.parametrize("number", range(4))
def test_a_branch_asks_at_what_it_tests(number: int) -> None:
    """Of `if`, `while`, a conditional expression and the last of several parts, in any Python."""
    _ASKED.clear()
    branches()
    place = _ASKED[number]
    line = Path(__file__).read_text().splitlines()[place.line - 1]

    assert place.line == place.end_line
    assert "asked()" == line[place.col : place.end_col]
