"""Files that no reader likes: each is documented as far as it can be read, or named, and nothing crashes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from geometry import Explain, pages_in
from nasty import BYTES, NAMED, TEXTS

from forwardbook.pipeline.explain.pages import Request
from forwardbook.pipeline.explain.pages import explain as explained
from forwardbook.printable import is_printable


def test_folder_is_documented_and_problems_are_named(nasty: Path, explain: Explain, tmp_path: Path) -> None:
    """A folder of nasty files gives its pages, exit code 0, and the name of each file with a problem."""
    result = explain(nasty, "--out", tmp_path / "out")
    said = result.stdout + result.stderr
    overview = pages_in(tmp_path / "out")["nasty-overview.md"]

    assert (0, False) == (result.returncode, "Traceback" in said), said
    assert [] == [name for name in NAMED if name not in said]
    assert [] == [name for name in NAMED if name not in overview]
    assert len(TEXTS | BYTES) <= len(pages_in(tmp_path / "out"))


def test_repository_set_of_nasty_files(nasty: Path, explain: Explain, tmp_path: Path) -> None:
    """The five documents are written for a folder of nasty files, and the index names each problem."""
    result = explain("--repository", nasty, "--out", tmp_path / "out")
    pages = pages_in(tmp_path / "out")

    assert 0 == result.returncode, result.stdout + result.stderr
    assert {"INDEX.md", "README.md", "STRUCTURE.md", "SUMMARY.md", "QUICK_REFERENCE.md"} == set(pages)
    assert [] == [name for name in NAMED if name not in pages["INDEX.md"]]


@pytest.mark.parametrize("name", sorted(TEXTS | BYTES))
def test_each_file_alone(name: str, nasty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each nasty file alone gives one page, whose claims the source does not contradict."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    report = explained(Request((nasty / name,), out=tmp_path / "out", root=nasty))

    assert [("written", ())] == [(page.outcome, page.wrong) for page in report.pages]
    assert 1 == len(pages_in(tmp_path / "out"))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="this user may read every file")
def test_file_that_may_not_be_read(nasty: Path, explain: Explain, tmp_path: Path) -> None:
    """A file that nobody may read is named; alone it is nothing to document, with exit code 1."""
    assert "secret.py" in explain(nasty, "--out", tmp_path / "out").stderr
    assert 1 == explain(nasty / "secret.py", "--root", nasty, "--out", tmp_path / "out").returncode


def test_nothing_to_document(explain: Explain, tmp_path: Path) -> None:
    """A folder without any source file is an error that says so."""
    (tmp_path / "void").mkdir()
    result = explain(tmp_path / "void", "--out", tmp_path / "out")

    assert 1 == result.returncode
    assert "no source or configuration file was found" in result.stderr


def test_markup_in_sources_stays_text(nasty: Path, explain: Explain, tmp_path: Path) -> None:
    """A docstring cannot add HTML, a heading, a diagram or front matter to a page."""
    explain(nasty / "markup.py", "--root", nasty, "--out", tmp_path / "out")
    page = pages_in(tmp_path / "out")["markup.md"]

    assert "<script>" not in page.replace("`<script>", "")
    assert "\n# Heading" not in page
    assert "click A" not in page.partition("```mermaid")[2]


def test_text_that_a_terminal_obeys_is_spelled_on_pages(tmp_path: Path, explain: Explain) -> None:
    """A docstring, a default and an example with escape sequences give pages without any, which hold."""
    code = '''"""Shows \x1b[31mred\x1b]0;owned\x07, at length.

More of \x1b[2J it.

    >>> red("\x1b[0m")
    1
"""


def red(text: str = "\x1b[31m") -> int:
    """Says \x1b[1mit\x1b[0m.

    And \u202eback\u202c again.
    """
    return 1
'''
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "odd.py").write_text(code, encoding="utf-8")
    result = explain(tmp_path / "code" / "odd.py", "--root", tmp_path / "code", "--out", tmp_path / "out")
    [page] = (tmp_path / "out").glob("odd.md")

    assert 0 == result.returncode, result.stderr
    assert is_printable(page.read_text(encoding="utf-8"))
    assert 'def red(text: str = "\\u001b[31m") -> int: ...' in page.read_text(encoding="utf-8")
