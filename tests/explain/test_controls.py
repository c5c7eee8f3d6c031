"""Control characters in sources are spelled out on pages, and the claims about such sources hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from geometry import Explain, pages_in

from forwardbook.pipeline.explain.pages import Request
from forwardbook.pipeline.explain.pages import explain as explained

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
CODE = '''\
"""Shows \x1b[31mred\x1b[0m and \u202eturned\u2066 words.

    It goes on \x1b]0;owned\x07 with \x08 and \x9b2J.
"""

import enum

# a remark \x1b[2J of its own \u202e
MARK = "\x1b[1m"  # bold \x1b


class Kind(enum.Enum):
    """Kinds \x1b[5m of things."""

    ONE = "\x1b"


\x0c
class Thing:
    """A thing \x1b[31m of \u200bnone."""

    def turn(self, by: str = "\x1b[0m", other: str = "\u202e") -> str:
        """Turns it \x1b[7m.

        Raises:
            ValueError: if it is \x1b[1mnothing\u2069.
        """
        if by == "\x1b":
            raise ValueError("no \x1b[31m turn")
        return helper(by, "\x1b]8;;x\x07")


def helper(one: str, two: str) -> str:
    return one + two  # \x1b[31m
'''
BINARY = CODE.replace("a remark", "a remark \0 and more")


@pytest.mark.parametrize("code", [CODE, BINARY], ids=["escapes", "NUL"])
def test_no_control_character_is_on_a_page(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ESC, CSI, NUL and marks of direction of docstrings, comments and literals are shown, not obeyed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "hostile.py").write_text(code, encoding="utf-8")
    report = explained(Request((tmp_path / "hostile.py",), out=tmp_path / "out", root=tmp_path))
    [page] = pages_in(tmp_path / "out").values()

    assert [("written", ())] == [(page.outcome, page.wrong) for page in report.pages]
    assert [] == OBEYED.findall(page)
    assert "\\u001b[31m" in page and "\\u202e" in page


def test_no_control_character_reaches_the_terminal(explain: Explain, tmp_path: Path) -> None:
    """The command that writes the pages, and the one that verifies them, print none either."""
    (tmp_path / "hostile.py").write_text(CODE, encoding="utf-8")
    result = explain(tmp_path / "hostile.py", "--root", tmp_path, "--out", tmp_path / "out")

    assert 0 == result.returncode, result.stderr
    assert [] == OBEYED.findall(result.stdout + result.stderr)
