"""The folder of generated pages: written when it changed, kept when not, never over somebody's own work."""

from pathlib import Path

import pytest

from forwardbook.book.blocks import Heading
from forwardbook.book.page import Page
from forwardbook.pipeline.site.folder import MANIFEST, SiteFolder
from forwardbook.workspace import WorkspaceError


def fill(path: Path, **texts: str) -> SiteFolder:
    """The folder with these files and no others."""
    folder = SiteFolder.open(path)
    for name, text in texts.items():
        folder.put(f"{name}.md", text, made_from=text)
    folder.close()
    return folder


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    """A file whose content is the same keeps its time; a changed one is written, a missing one removed."""
    book = tmp_path / "book"
    fill(book, a="one", b="two", c="three")
    before = (book / "a.md").stat().st_mtime_ns
    again = fill(book, a="one", b="2")

    assert before == (book / "a.md").stat().st_mtime_ns
    assert (["b.md"], ["c.md"]) == (again.written, again.removed)
    assert "2" == (book / "b.md").read_text()


def test_what_it_was_made_from_tells_whether_it_is_current(tmp_path: Path) -> None:
    """A file is current as long as it was made from the same and stands there."""
    book = tmp_path / "book"
    fill(book, a="one")

    assert SiteFolder.open(book).is_current("a.md", "one")
    assert not SiteFolder.open(book).is_current("a.md", "other")
    (book / "a.md").unlink()
    assert not SiteFolder.open(book).is_current("a.md", "one")


def test_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    """A folder with files and no manifest is refused, and nothing in it changes."""
    (tmp_path / "own.md").write_text("mine")

    with pytest.raises(WorkspaceError, match="not made by forwardbook"):
        SiteFolder.open(tmp_path)
    assert ["own.md"] == [path.name for path in tmp_path.iterdir()]


def test_edited_file_is_not_overwritten(tmp_path: Path) -> None:
    """A file that someone edited stops the writing; one that is no longer made but edited stays."""
    fill(tmp_path / "book", a="one", b="two")
    (tmp_path / "book" / "a.md").write_text("edited")

    with pytest.raises(WorkspaceError, match=r"a\.md was edited by hand"):
        fill(tmp_path / "book", a="new", b="two")
    fill(tmp_path / "book", b="two")
    assert "edited" == (tmp_path / "book" / "a.md").read_text()


def test_damaged_manifest_says_what_to_do(tmp_path: Path) -> None:
    """A manifest that cannot be read is an error that says to remove the folder."""
    fill(tmp_path / "book", a="one")
    (tmp_path / "book" / MANIFEST).write_text("{")

    with pytest.raises(WorkspaceError, match="remove the folder"):
        SiteFolder.open(tmp_path / "book")


def test_git_ignores_the_folder(tmp_path: Path) -> None:
    """The folder holds a .gitignore for all of it, so that no workspace has to mind."""
    fill(tmp_path / "book", a="one")

    assert "*\n" == (tmp_path / "book" / ".gitignore").read_text()


def test_interrupted_writing_goes_on_from_there(tmp_path: Path) -> None:
    """Pages written before a process was killed are not taken for edited ones, also where they now differ."""
    page, other = (Page("a.md", {}, (Heading(1, text),)).markdown() for text in ("one", "two"))
    killed = SiteFolder.open(tmp_path / "book")
    killed.put("a.md", page, "one")
    killed.put("assets/a.js", "one", "one")

    again = SiteFolder.open(tmp_path / "book")
    again.put("a.md", other, "two")
    again.put("assets/a.js", "two", "two")
    again.close()

    assert other == (tmp_path / "book" / "a.md").read_text()
