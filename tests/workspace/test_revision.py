"""Revisions of a repository: found, read and exported without running anything that it configures."""

import os
import subprocess
from pathlib import Path

import pytest

from forwardbook.workspace.revision import RevisionError, commit_of, export, file_at

GIT = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(folder: Path, *arguments: str) -> None:
    """Git, as somebody."""
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments]
    subprocess.run(command, cwd=folder, env=GIT, check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The subfolder of a repository with two commits, a filter, a hidden file and a link that leads out."""
    top = tmp_path / "top"
    (top / "sub").mkdir(parents=True)
    git(top, "init", "--quiet")
    (top / "sub" / "a.py").write_text("first\n")
    (top / "sub" / "ü b.txt").write_bytes(b"\0\xff\n")
    (top / "hidden.txt").write_text("hidden from archives\n")
    (top / ".gitattributes").write_text("hidden.txt export-ignore\n*.py filter=evil\n")
    (top / "out").symlink_to("/etc")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "first")
    (top / "sub" / "a.py").write_text("second\n")
    git(top, "commit", "--quiet", "-am", "second")
    git(top, "config", "filter.evil.smudge", f"touch {tmp_path / 'ran'}; cat")
    return top / "sub"


def test_files_come_out_as_they_were_committed(folder: Path, tmp_path: Path) -> None:
    """Every ordinary file of the older commit, below the export; links are left out, no filter runs."""
    commit = commit_of(folder, "HEAD~1")
    place = export(folder, commit, tmp_path / "export")

    assert "first\n" == (place / "a.py").read_text()
    assert b"\0\xff\n" == (place / "ü b.txt").read_bytes()
    assert (place.parent / "hidden.txt").is_file()
    assert not (place.parent / "out").exists()
    assert not (tmp_path / "ran").exists()


def test_one_file_is_read_by_its_way_from_the_folder(folder: Path) -> None:
    """The text of a file at a commit, None where it has none, an error where it is no text."""
    commit = commit_of(folder, "HEAD")

    assert "second\n" == file_at(folder, commit, "a.py")
    assert file_at(folder, commit, "missing.py") is None
    with pytest.raises(RevisionError, match="not UTF-8"):
        file_at(folder, commit, "ü b.txt")


@pytest.mark.parametrize("name", ["nowhere", "--help", "HEAD~9", "", "HEAD:sub"])
def test_what_is_no_commit_is_told(folder: Path, name: str) -> None:
    """An unknown name, one that looks like an option, one before the first."""
    with pytest.raises(RevisionError, match="no such commit"):
        commit_of(folder, name)


def test_a_folder_outside_any_checkout_is_told(tmp_path: Path) -> None:
    """Without a repository there are no revisions."""
    with pytest.raises(RevisionError, match="in no git checkout"):
        commit_of(tmp_path, "HEAD")


def test_a_hook_does_not_lead_elsewhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Variables that git sets while a hook runs do not change which repository is read."""
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nothing"))

    assert 40 == len(commit_of(folder, "HEAD"))
