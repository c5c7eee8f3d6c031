"""Which pages of explained code are held against their sources again, and what is found."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.book.blocks import Paragraph
from forwardbook.book.page import Page
from forwardbook.pipeline.explain import verify_pages
from forwardbook.pipeline.site import explained as site_explained
from forwardbook.pipeline.site.explained import doubtful_pages, read_doubtful, written

Write = Callable[..., Path]
SOURCE = "def area(r):\n    return r\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Puts a source file and a page about it into a repository; the page as `explain` writes it."""

    def make(text: str, source: str = SOURCE) -> Path:
        (tmp_path / "shape.py").write_text(source)
        digest = hashlib.sha256(SOURCE.encode()).hexdigest()[:16]
        page = Page("shape.md", {"sources": {"shape.py": digest}}, (Paragraph(text),))
        folder = tmp_path / "docs" / "code-explained"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "shape.md").write_text(page.markdown())
        return tmp_path

    return make


def test_a_page_as_it_was_written_is_not_held_against_its_sources_again(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody edited it and its sources are the same: nothing is read but these."""
    root = write("`area` (`shape.py:1-2`)")
    monkeypatch.delattr(verify_pages, "verify_pages")

    assert {} == doubtful_pages(root / "docs", root)


def test_a_page_whose_source_changed_and_that_still_holds_is_no_doubt(write: Write) -> None:
    """A line more behind what the page tells of changes nothing of it."""
    root = write("`area` (`shape.py:1-2`)", SOURCE + "\n\nWIDTH = 1\n")

    assert {} == doubtful_pages(root / "docs", root)


def test_a_page_whose_source_moved_is_named(write: Write) -> None:
    """The line that the page names is another now."""
    root = write("`area` (`shape.py:1-2`)", "# moved\n" + SOURCE)
    [(page, lines)] = doubtful_pages(root / "docs", root).items()

    assert "code-explained/shape.md" == page
    assert "area is at shape.py:2-3" in lines[0]


def test_a_page_that_somebody_edited_is_held_against_its_sources(write: Write) -> None:
    """What a person wrote into it is as good as what it says."""
    root = write("`area` (`shape.py:1-2`)")
    path = root / "docs" / "code-explained" / "shape.md"
    path.write_text(path.read_text() + "\n`volume` (`shape.py:8-9`)\n")

    assert ["code-explained/shape.md"] == list(doubtful_pages(root / "docs", root))


def test_a_page_about_files_that_are_elsewhere_is_left_alone(write: Write) -> None:
    """None of its sources is in the repository: nobody can tell."""
    root = write("`area` (`shape.py:1-2`)")
    (root / "shape.py").unlink()

    assert {} == doubtful_pages(root / "docs", root)


def test_what_was_found_is_read_back(tmp_path: Path) -> None:
    """The file that keeps it gives the same; where there is none nothing was found."""
    found = {"code-explained/a.md": ("one", "two")}
    (tmp_path / "assets" / "data").mkdir(parents=True)
    (tmp_path / site_explained.DOUBTFUL).write_text(written(found))

    assert found == read_doubtful(tmp_path)
    assert {} == read_doubtful(tmp_path / "assets")
