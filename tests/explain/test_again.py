"""Running again: what did not change stays, what changed is written, what was edited is left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from geometry import Explain, pages_in

from forwardbook.book.page import Page
from forwardbook.pipeline.explain.pages import Report, Request
from forwardbook.pipeline.explain.pages import explain as explained


def _times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.md")}


def _outcomes(report: Report) -> dict[str, str]:
    return {page.name: page.outcome for page in report.pages}


@pytest.fixture
def request_for(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Request:
    """A request for the folder of the package, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Request((package / "geometry",), out=tmp_path / "out")


def test_second_run_writes_nothing(package: Path, explain: Explain, tmp_path: Path) -> None:
    """With nothing changed every page is left as it is."""
    explain(package, "--out", "out")
    before = _times(tmp_path / "out")
    result = explain(package, "--out", "out")

    assert 0 == result.returncode
    assert before == _times(tmp_path / "out")
    assert "5 unchanged" in result.stderr


def test_only_pages_whose_facts_changed_are_written(package: Path, explain: Explain, tmp_path: Path) -> None:
    """A change in a file nobody builds on changes its own page and the overview, no other."""
    (package / "geometry" / "alone.py").write_text('"""Alone."""\n')
    explain(package / "geometry", "--out", "out")
    before = _times(tmp_path / "out")
    (package / "geometry" / "alone.py").write_text('"""Alone."""\n\n\ndef added():\n    """New."""\n')
    explain(package / "geometry", "--out", "out")
    after = _times(tmp_path / "out")

    assert {"alone.md", "geometry-overview.md"} == {name for name in after if after[name] != before[name]}


def test_check_tells_and_writes_nothing(package: Path, explain: Explain, tmp_path: Path) -> None:
    """`--check` is exit code 1 while pages are missing or old, 0 when all are up to date."""
    assert 1 == explain(package, "--out", "out", "--check").returncode
    assert not (tmp_path / "out").exists()
    explain(package, "--out", "out")
    assert 0 == explain(package, "--out", "out", "--check").returncode
    (package / "geometry" / "shapes.py").write_text("def other():\n    return 1\n")
    before = _times(tmp_path / "out")
    assert 1 == explain(package, "--out", "out", "--check").returncode
    assert before == _times(tmp_path / "out")


def test_edited_page_is_left_unless_forced(package: Path, explain: Explain, tmp_path: Path) -> None:
    """A page whose text no longer has its checksum is not overwritten, and that is exit code 1."""
    explain(package, "--out", "out")
    page = tmp_path / "out" / "STRUCTURE.md"
    edited = page.read_text().replace("Structure of", "My notes on")
    page.write_text(edited)

    refused = explain(package, "--out", "out")
    assert (1, True) == (refused.returncode, "edited by hand" in refused.stderr)
    assert edited == page.read_text()
    assert 0 == explain(package, "--out", "out", "--force").returncode
    assert "My notes" not in page.read_text()


def test_file_of_someone_else_is_left(package: Path, explain: Explain, tmp_path: Path) -> None:
    """A README.md that this command did not write is not overwritten."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "README.md").write_text("# Mine\n")
    result = explain(package, "--out", "out")

    assert (1, True) == (result.returncode, "did not write" in result.stderr)
    assert "# Mine\n" == (tmp_path / "out" / "README.md").read_text()


def test_pages_in_the_repository_do_not_change_it(package: Path, explain: Explain) -> None:
    """Pages written below the root are not part of what is documented: a second run finds nothing new."""
    explain(package, "--out", package / "docs")
    result = explain(package, "--out", package / "docs")

    assert (0, True) == (result.returncode, "5 unchanged" in result.stderr)
    assert "docs/" not in pages_in(package / "docs")["STRUCTURE.md"].partition("## Packages")[0]


def test_page_of_a_removed_file_goes(package: Path, explain: Explain, tmp_path: Path) -> None:
    """The page of a file that is gone is taken away if nobody edited it."""
    (package / "geometry" / "old.py").write_text("x = 1\n")
    explain(package / "geometry", "--out", "out")
    (package / "geometry" / "old.py").unlink()
    result = explain(package / "geometry", "--out", "out")

    assert 0 == result.returncode, result.stderr
    assert "old.md" not in pages_in(tmp_path / "out")


def test_two_jobs_write_what_one_writes(package: Path, explain: Explain, tmp_path: Path) -> None:
    """`--jobs 2` gives the same pages, byte for byte."""
    explain(package / "geometry", "--out", "one")
    result = explain(package / "geometry", "--out", "two", "--jobs", 2)

    assert 0 == result.returncode, result.stderr
    assert pages_in(tmp_path / "one") == pages_in(tmp_path / "two")


def test_interrupted_run_is_resumed(request_for: Request) -> None:
    """After Ctrl-C the finished pages are kept, and the next run writes only the others."""

    def stop(doing: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explained(request_for, stop)
    assert request_for.out is not None
    kept = _times(request_for.out)
    outcomes = _outcomes(explained(request_for))

    assert 2 == len(kept)
    assert dict.fromkeys(kept, "unchanged") == {name: outcomes[name] for name in kept}
    assert 4 == len(outcomes)
    assert kept == {name: time for name, time in _times(request_for.out).items() if name in kept}


def test_a_false_claim_is_left_out_and_counted(request_for: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the source contradicts is left out of a page, whoever writes it; the next run counts it again."""
    import forwardbook.book.pages as pages
    from forwardbook.book.blocks import Paragraph

    honest = pages.file_page

    def lying(path: str, *given: object) -> Page:
        page = honest(path, *given)  # type: ignore[arg-type]
        false = Paragraph("`total` (`geometry/shapes.py:1-2`) is short.")
        return Page(page.name, page.front_matter, (*page.blocks, false)) if "shapes" in path else page

    monkeypatch.setattr(pages, "file_page", lying)
    first, again = explained(request_for), explained(request_for)
    [page] = [page for page in first.pages if page.name == "shapes.md"]
    [kept] = [page for page in again.pages if page.name == "shapes.md"]
    assert request_for.out is not None
    text = (request_for.out / "shapes.md").read_text(encoding="utf-8")

    assert ("written", False, 1) == (page.outcome, first.failed, first.left_out)
    assert ("unchanged", page.left_out) == (kept.outcome, kept.left_out)
    assert "geometry/shapes.py" in page.left_out[0]
    assert "is short" not in text
    assert "Left out, because the source does not support them: 1." in text


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="this user may write everywhere")
def test_folder_that_cannot_be_written(package: Path, explain: Explain, tmp_path: Path) -> None:
    """A folder that cannot be written is said, with exit code 1."""
    (tmp_path / "out").mkdir(mode=0o500)
    result = explain(package, "--out", "out")

    assert (1, False) == (result.returncode, "Traceback" in result.stderr)
