"""The sources of a target: a root in; facts, call graph and bytes out, as pages and verifier ask for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from forwardbook.analyzers.calls import Graph
from forwardbook.analyzers.index.facts import FileFacts, Repository
from forwardbook.workspace.repository import repository_of
from forwardbook.workspace.source_tree import SourceTree
from forwardbook.workspace.storage import WorkspaceError

Resolver = Literal["own", "ty", "both"]


class FilesBut(Mapping[str, FileFacts]):
    """The files of a repository but some."""

    def __init__(self, files: Mapping[str, FileFacts], left_out: Collection[str]) -> None:
        self._files = files
        self._paths = tuple(path for path in files if path not in left_out)
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
    """What is known of a root."""

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


def read_sources(tree: SourceTree, pages: Collection[str], resolver: Resolver, jobs: int) -> Sources:
    """Facts and graph of a tree, without the pages that were written into it."""
    repository = repository_of(tree, jobs)
    if pages:
        files = FilesBut(repository.files, pages)
        repository = Repository(repository.root, files, repository.skipped)
    sources = Sources(tree, repository, Graph(repository))
    if resolver != "own":
        from forwardbook.workspace.ty_server import TyServer

        sources.graph.ask(sources.read, TyServer(tree.root).definitions, "ty", instead=resolver == "ty")
    return sources
