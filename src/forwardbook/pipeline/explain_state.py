"""The state that pages were written from: a folder's files and what was asked in, short digests out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path

import forwardbook
from forwardbook.analyzers.index.facts import Repository
from forwardbook.workspace.source_tree import SourceTree

ROOMS = ("book", "pipeline", "analyzers/index", "analyzers/calls", "analyzers/native", "analyzers/detail")


def stamp_of(tree: SourceTree, asked: object, pages: Collection[str]) -> str:
    """What the folder tells without opening a file; `pages`, which were written into it, do not count."""
    files = [
        (each.path, each.size, each.modified, each.changed) for each in tree.files if each.path not in pages
    ]
    return _digest([files, [list(each) for each in tree.skipped], asked, head_of(tree.root), _maker()])


def content_of(repository: Repository, asked: object, head: str) -> str:
    """What the bytes of all files tell."""
    files = sorted((path, facts.digest) for path, facts in repository.files.items())
    return _digest([files, [list(each) for each in repository.skipped], asked, head, _maker()])


def head_of(root: Path) -> str:
    """The commit that a checkout stands at, as its files say; empty where there is none."""
    for folder in (root, *root.parents):
        head = folder / ".git" / "HEAD"
        try:
            said = head.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            if (folder / ".git").exists():
                return ""
            continue
        name = said.removeprefix("ref: ")
        if name == said:
            return said
        try:
            return (folder / ".git" / name).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return said
    return ""


def _maker() -> str:
    """What wrote the pages: the version, and the marks of the code's own files."""
    folder = Path(forwardbook.__file__).parent
    marks = [
        (str(source), status.st_mtime_ns, status.st_size)
        for room in ROOMS
        for source in sorted((folder / room).rglob("*.py"))
        if (status := source.stat())
    ]
    return _digest([forwardbook.__version__, marks])


def _digest(values: object) -> str:
    return hashlib.sha256(json.dumps(values, default=str).encode("utf-8", "surrogatepass")).hexdigest()[:32]
