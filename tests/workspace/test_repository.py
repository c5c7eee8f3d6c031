"""The facts of a folder are kept between runs: what did not change is not read, a change never missed."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forwardbook.analyzers.index.facts import Repository
from forwardbook.workspace import index_worker, repository
from forwardbook.workspace.index_cache import IndexCache
from forwardbook.workspace.repository import build_repository
from forwardbook.workspace.source_tree import SourceTree, source_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a package whose files have not changed for a minute."""
    root = tmp_path / "root"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg/__init__.py").write_text("")
    (root / "pkg/a.py").write_text("def first(): pass\n")
    (root / "pkg/b.py").write_text("def second(): pass\n")
    return root


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Where facts are kept."""
    return tmp_path / "cache"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are read from here on."""
    paths: list[str] = []
    plain = SourceTree.read

    def noted(tree: SourceTree, path: str) -> bytes:
        paths.append(path)
        return plain(tree, path)

    monkeypatch.setattr(SourceTree, "read", noted)
    return paths


def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is read now count as read a minute after the files were written."""
    monkeypatch.setattr(repository, "now", lambda: time.time_ns() + 60 * 10**9)


def names(found: Repository) -> dict[str, list[str]]:
    """The definitions of every file."""
    return {path: [each.name for each in facts.definitions] for path, facts in found.files.items()}


ALL = {"pkg/__init__.py": [], "pkg/a.py": ["first"], "pkg/b.py": ["second"]}


def test_second_run(root: Path, cache: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run over an unchanged folder reads no file and finds the same."""
    settle(monkeypatch)
    first = build_repository(root, cache=cache)
    assert ALL == names(first)
    read.clear()
    second = build_repository(root, cache=cache)
    assert dict(first.files) == dict(second.files)
    assert [] == read


def test_change(root: Path, cache: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change only that file is read; a new one is found, and one that is gone forgotten."""
    settle(monkeypatch)
    build_repository(root, cache=cache)
    (root / "pkg/a.py").write_text("def third(): pass\n")
    (root / "pkg/b.py").unlink()
    (root / "pkg/c.py").write_text("def fourth(): pass\n")
    read.clear()
    changed = build_repository(root, cache=cache)
    assert {"pkg/__init__.py": [], "pkg/a.py": ["third"], "pkg/c.py": ["fourth"]} == names(changed)
    assert {"pkg/a.py", "pkg/c.py"} == set(read)


def test_change_within_a_tick(root: Path, cache: Path) -> None:
    """A file of the same size, written again in the same moment with its time set back, is read again."""
    build_repository(root, cache=cache)
    status = (root / "pkg/a.py").stat()
    (root / "pkg/a.py").write_text("def other(): pass\n")
    os.utime(root / "pkg/a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert ["other"] == names(build_repository(root, cache=cache))["pkg/a.py"]


def test_touched(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was only touched is read, but its facts are not found anew."""
    settle(monkeypatch)
    build_repository(root, cache=cache)
    (root / "pkg/a.py").touch()
    monkeypatch.setattr(repository, "index_file", None)
    assert ALL == names(build_repository(root, cache=cache))


def test_other_module_name(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that came to lie in another package is indexed again, although it did not change."""
    settle(monkeypatch)
    build_repository(root, cache=cache)
    (root / "__init__.py").touch()
    assert "root.pkg.a" == build_repository(root, cache=cache).files["pkg/a.py"].module


@pytest.mark.parametrize("damage", [b"", b"no database at all", None])
def test_damaged_cache(root: Path, cache: Path, damage: bytes | None) -> None:
    """A damaged cache costs time and nothing else."""
    build_repository(root, cache=cache)
    path = IndexCache(source_tree(root).root, cache).path
    path.write_bytes(path.read_bytes()[:3000] if damage is None else damage)
    assert ALL == names(build_repository(root, cache=cache))
    assert ALL == names(build_repository(root, cache=cache))


def test_damaged_row(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that cannot be decoded is found anew when it is asked for."""
    settle(monkeypatch)
    build_repository(root, cache=cache)
    with sqlite3.connect(IndexCache(source_tree(root).root, cache).path) as database:
        database.execute("UPDATE files SET facts = x'00ff' WHERE path = 'pkg/a.py'")
    assert ALL == names(build_repository(root, cache=cache))


def test_no_cache_folder(root: Path, tmp_path: Path) -> None:
    """Where nothing can be kept, everything is found all the same."""
    (tmp_path / "file").touch()
    assert ALL == names(build_repository(root, cache=tmp_path / "file"))


def test_locked(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another run writes, everything is found without what is kept, and that stays whole."""
    settle(monkeypatch)
    build_repository(root, cache=cache)
    monkeypatch.setattr("forwardbook.workspace.index_cache.WAIT_SECONDS", 0.05)
    (root / "pkg/a.py").write_text("def third(): pass\n")
    with sqlite3.connect(IndexCache(source_tree(root).root, cache).path) as database:
        database.execute("BEGIN EXCLUSIVE")
        assert {**ALL, "pkg/a.py": ["third"]} == names(build_repository(root, cache=cache))
        assert 3 == database.execute("SELECT count(*) FROM files").fetchone()[0]


def test_some_folders(root: Path, cache: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking into one folder only forgets nothing of the others."""
    settle(monkeypatch)
    (root / "c.py").touch()
    build_repository(root, cache=cache)
    repository.repository_of(source_tree(root, [""]), cache=cache)
    read.clear()
    build_repository(root, cache=cache)
    assert [] == read


def test_several_processes(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes find what one finds; where one dies, its file is named and the others are read."""
    for number in range(20):
        (root / f"pkg/m{number}.py").write_text(f"def f{number}(x=1):\n    return g{number}(x)\n")
    expected = dict(build_repository(root, cache=cache / "one").files)
    monkeypatch.setattr(repository, "WORTH", 1)
    assert expected == dict(build_repository(root, jobs=3, cache=cache / "three").files)
    monkeypatch.setattr(index_worker, "COMMAND", [sys.executable, "-c", DIES])
    found = build_repository(root, jobs=2, cache=cache / "two").files
    died = {path for path, facts in found.items() if facts.problems}
    assert {"pkg/m7.py"} == died
    assert {path: facts for path, facts in expected.items() if path not in died} == {
        path: facts for path, facts in found.items() if path not in died
    }


DIES = """
import os, sys
from forwardbook.workspace import index_worker
plain = index_worker.index_file
index_worker.index_file = lambda path, *rest: os._exit(3) if path.endswith("m7.py") else plain(path, *rest)
index_worker.main(sys.argv[-1])
"""


def test_nothing_is_run(root: Path, cache: Path) -> None:
    """Reading a folder that we stand in, and that holds modules with the names of ours, runs none of them."""
    for name in ("json", "forwardbook", "ast", "sitecustomize"):
        (root / f"{name}.py").write_text(f"open({str(root / 'ran')!r}, 'w')\n" + "x = 1\n" * 400)
    code = "from forwardbook.workspace import repository as r; r.WORTH = 1\n"
    code += "print(len(r.build_repository('.', 2).files))"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    assert ("7\n", False) == (done.stdout, (root / "ran").exists())
