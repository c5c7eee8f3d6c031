"""The last change of a file is the one that git tells; nothing that a checkout configures is run for it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from forwardbook.workspace import history
from forwardbook.workspace.history import Change, last_changes

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "N"), ("EMAIL", "n@example.org"))
}


def git(root: Path, *words: str, date: str = "2024-05-06T07:08:09") -> str:
    """Run git in a folder; what it prints."""
    environment = {**os.environ, **IDENTITY, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    done = subprocess.run(
        ["git", *words], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with two commits."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    git(root, "init", "-q")
    for name, date in (("a.py", "2024-01-02T00:00:00"), ("sub/é b.py", "2025-03-04T00:00:00")):
        (root / name).write_text("x = 1\n")
        git(root, "add", name)
        git(root, "commit", "-q", "-m", "m", date=date)
    return root


def told(root: Path, path: str) -> Change:
    """What git says of a file."""
    return Change(*git(root, "log", "-1", "--format=%cs %H", "--", path).split())


def test_same_as_git(root: Path, tmp_path: Path) -> None:
    """Date and commit are those of `git log`; a file that git does not know has none."""
    (root / "new.py").touch()
    found = last_changes(root, ["a.py", "sub/é b.py", "new.py"], tmp_path)
    assert {"a.py": told(root, "a.py"), "sub/é b.py": told(root, "sub/é b.py")} == found


def test_below_the_top(root: Path, tmp_path: Path) -> None:
    """Paths are those from the folder that was asked about."""
    assert {"é b.py": told(root, "sub/é b.py")} == last_changes(root / "sub", ["é b.py", "a.py"], tmp_path)


def test_kept_until_the_next_commit(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was told is kept while the checkout stands at the same commit, and no longer."""
    first = last_changes(root, ["a.py"], tmp_path)
    with monkeypatch.context() as context:
        context.setattr(history, "_read", None)
        assert first == last_changes(root, ["a.py"], tmp_path)
    (root / "a.py").write_text("x = 2\n")
    git(root, "commit", "-q", "-a", "-m", "m", date="2026-01-01T00:00:00")
    assert (
        Change("2026-01-01", git(root, "rev-parse", "HEAD")) == last_changes(root, ["a.py"], tmp_path)["a.py"]
    )


def test_packed_and_linked(root: Path, tmp_path: Path) -> None:
    """Packed references, a detached head and a second work tree are understood."""
    expected = {"a.py": told(root, "a.py")}
    git(root, "pack-refs", "--all")
    assert expected == last_changes(root, ["a.py"], tmp_path / "1")
    git(root, "worktree", "add", "-q", str(tmp_path / "second"), "HEAD~1")
    assert expected == last_changes(tmp_path / "second", ["a.py"], tmp_path / "2")


def test_nothing_configured_is_run(root: Path, tmp_path: Path) -> None:
    """Programs that the checkout configures are not run, and broken configuration does not matter."""
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "gpg.program",
        "diff.external",
        "core.sshCommand",
        "alias.log",
    ):
        git(root, "config", key, f"!{program}" if key.startswith("alias") else str(program))
    git(root, "config", "log.showSignature", "true")
    assert "a.py" in last_changes(root, ["a.py"], tmp_path / "1")
    (root / ".git/config").write_text("[broken")
    assert "a.py" in last_changes(root, ["a.py"], tmp_path / "2")
    assert not ran.exists()


@pytest.mark.parametrize(
    "text", ["", "ref: refs/heads/../../x", "ref: ref: x", "0" * 39, "\0", "ref: refs/heads/none"]
)
def test_strange_heads(root: Path, tmp_path: Path, text: str) -> None:
    """A checkout whose head cannot be told has no history, and no error comes of it."""
    (root / ".git/HEAD").write_text(text)
    assert {} == last_changes(root, ["a.py"], tmp_path)


def test_no_checkout_no_git(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a checkout, or without git, there is no history either."""
    (tmp_path / "plain/.git").mkdir(parents=True)
    assert {} == last_changes(tmp_path / "plain", ["a.py"], tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert {} == last_changes(root, ["a.py"], tmp_path / "cache")
