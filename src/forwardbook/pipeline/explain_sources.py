"""The sources of a target: a root in; facts, call graph and bytes out, as pages and verifier ask for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forwardbook.analyzers.calls import Graph
from forwardbook.analyzers.index.facts import FileFacts, Repository
from forwardbook.book.repository.survey import is_below
from forwardbook.workspace.repository import build_repository
from forwardbook.workspace.source_tree import SourceTree
from forwardbook.workspace.storage import WorkspaceError

Resolver = Literal["own", "ty", "both"]


class FilesOutside(Mapping[str, FileFacts]):
    """The files of a repository but those below one folder."""

    def __init__(self, files: Mapping[str, FileFacts], folder: str) -> None:
        self._files = files
        self._paths = tuple(path for path in files if not is_below(path, folder))
        self._known = frozenset(self._paths)

    def __getitem__(self, path: str) -> FileFacts:
        if path not in self._known:
            raise KeyError(path)
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


@dataclass(frozen=True)
class Sources:
    """What is known of a root; `out` is the folder of pages relative to it, empty where it lies elsewhere."""

    tree: SourceTree
    repository: Repository
    graph: Graph

    def read(self, path: str) -> bytes | None:
        """The bytes of a file below the root; None where it cannot be read or leads out of it."""
        target = self.tree.root / path
        try:
            if not target.resolve().is_relative_to(self.tree.root) or not target.is_file():
                return None
            return self.tree.read(path)
        except (WorkspaceError, OSError, ValueError, RuntimeError):
            return None


def read_sources(tree: SourceTree, out: str, resolver: Resolver, jobs: int) -> Sources:
    """Facts and graph of a tree, without the pages that are written into it."""
    repository = build_repository(tree.root, jobs)
    if out:
        repository = Repository(repository.root, FilesOutside(repository.files, out), repository.skipped)
    return Sources(tree, repository, Graph(repository))


def below_root(root: Path, out: Path) -> str:
    """The folder of pages relative to the root, empty where it lies outside of it or is the root."""
    try:
        relative = out.resolve().relative_to(root.resolve()).as_posix()
    except (ValueError, OSError):
        return ""
    return "" if relative == "." else relative
