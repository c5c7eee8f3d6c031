"""Walking a folder finds its source files, follows no link, and says what it left out and why."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from forwardbook.workspace.source_tree import LARGEST, source_tree
from forwardbook.workspace.storage import WorkspaceError


def write(root: Path, *paths: str, text: str = "x = 1\n") -> Path:
    """Files under a root."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def found(root: Path) -> list[str]:
    """The paths of the files found."""
    return [file.path for file in source_tree(root).files]


def test_files(tmp_path: Path) -> None:
    """Files of known languages are found at any depth, in the order of their paths, and no others."""
    write(
        tmp_path,
        "b.py",
        "a/c.cu",
        "a/CMakeLists.txt",
        "README.md",
        "x.png",
        "Makefile",
        "a/d.json",
        ".ci/e.yml",
    )
    assert [".ci/e.yml", "README.md", "a/CMakeLists.txt", "a/c.cu", "a/d.json", "b.py"] == found(tmp_path)


def test_same_as_find(tmp_path: Path) -> None:
    """On a real folder the Python files are those that `find` lists."""
    root = Path(__file__).parents[2] / "analyzers"
    listed = subprocess.run(["find", ".", "-name", "*.py"], cwd=root, capture_output=True, text=True).stdout
    assert sorted(line[2:] for line in listed.split()) == [
        path for path in found(root) if path.endswith(".py")
    ]


def test_machinery_and_builds(tmp_path: Path) -> None:
    """Version control, caches, environments and build output are not source; a package named build is."""
    write(tmp_path, ".git/a.py", "__pycache__/a.py", "node_modules/a.py", "build/lib/a.py", "p.egg-info/a.py")
    write(tmp_path, "pkg/build/__init__.py", "env/lib/a.py", "env/pyvenv.cfg")
    tree = source_tree(tmp_path)
    assert ["pkg/build/__init__.py"] == [file.path for file in tree.files]
    assert [("build/", "build output"), ("env/", "a virtual environment")] == tree.skipped


def test_links(tmp_path: Path) -> None:
    """Links are named and not followed: loops, links out of the tree, links to what is there already."""
    root = write(tmp_path / "root", "a/x.py")
    write(tmp_path, "outside/y.py")
    (root / "a/loop").symlink_to(root)
    (root / "self").symlink_to("self")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "y.py").symlink_to(tmp_path / "outside/y.py")
    (root / "again").symlink_to("a")
    (root / "nowhere").symlink_to("gone")
    tree = source_tree(root)
    assert ["a/x.py"] == [file.path for file in tree.files]
    assert {
        "a/loop": "a link to .",
        "self": "a link that leads nowhere or to itself",
        "out": "a link that leads out of the tree",
        "y.py": "a link that leads out of the tree",
        "again": "a link to a",
        "nowhere": "a link that leads nowhere or to itself",
    } == dict(tree.skipped)


def test_no_regular_files(tmp_path: Path) -> None:
    """A pipe is not opened, a huge file is not read, and a name that cannot be printed is escaped."""
    os.mkfifo(tmp_path / "pipe.py")
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n.py")).write_text("")
    (tmp_path / "folder.py").mkdir()
    tree = source_tree(tmp_path)
    assert [] == tree.files
    assert [
        ("\\udcff\\n.py", "its name is not printable text"),
        ("huge.json", "16,777,217 bytes: more than the 16,777,216 that are read"),
        ("pipe.py", "not a regular file"),
    ] == tree.skipped


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable(tmp_path: Path) -> None:
    """What may not be read is named."""
    write(tmp_path, "a.py", "b/c.py")
    (tmp_path / "a.py").chmod(0)
    (tmp_path / "b").chmod(0)
    skipped = source_tree(tmp_path).skipped
    (tmp_path / "b").chmod(0o700)
    assert [("a.py", "unreadable: Permission denied"), ("b/", "unreadable: Permission denied")] == skipped


def test_no_folder(tmp_path: Path) -> None:
    """A root that is no folder is a user's mistake, told in a sentence."""
    for root in (tmp_path / "gone", Path(__file__)):
        with pytest.raises(WorkspaceError, match="Name a folder that exists"):
            source_tree(root)
