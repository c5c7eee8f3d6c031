"""The state that pages were written from: a folder's files and what was asked in, short digests out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Final

import forwardbook
from forwardbook.analyzers.index.facts import Repository
from forwardbook.workspace.checkout import find_checkout
from forwardbook.workspace.source_tree import SourceTree
from forwardbook.workspace.storage import WorkspaceError

_OURS: Final = b'---\nchecksum: "sha256:'
ROOMS: Final = ("book", "pipeline", *(f"analyzers/{room}" for room in ("index", "calls", "native", "detail")))


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
    """The commit that a checkout stands at; empty where there is none."""
    checkout = find_checkout(root)
    return checkout.head if checkout is not None else ""


def own_pages(tree: SourceTree, out: Path) -> frozenset[str]:
    """The files of the tree that are pages: Markdown right in their folder that begins with a checksum."""
    try:
        folder = out.resolve().relative_to(tree.root).as_posix()
    except (ValueError, OSError):
        return frozenset()
    inside = (each.path for each in tree.files if (each.path.rpartition("/")[0] or ".") == folder)
    return frozenset(path for path in inside if path.endswith(".md") and _begins_as_ours(tree, path))


def _begins_as_ours(tree: SourceTree, path: str) -> bool:
    try:
        return tree.read(path).startswith(_OURS)
    except WorkspaceError:
        return False


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
