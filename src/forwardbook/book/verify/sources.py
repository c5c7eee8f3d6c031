"""What claims are held against, in one value: facts, call graph, bytes of files, pages known for links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from forwardbook.analyzers.index.facts import Edge, FileFacts, Repository


class CallGraph(Protocol):
    """What the verifier asks of the call graph."""

    def edges_from(self, path: str, qualname: str) -> tuple[Edge, ...]:
        """The calls out of a definition (`qualname` empty: out of the module)."""
        ...

    def resolve(self, path: str, dotted: str) -> tuple[str, str] | None:
        """The file and qualname that a dotted name means in a file."""
        ...

    def imports_of(self, path: str) -> tuple[str, ...]:
        """The first-party files that a file imports."""
        ...


@dataclass(frozen=True)
class Sources:
    """Facts, graph, `read(path)` for bytes (None where there is no such file), and pages that may be linked.

    Paths are relative to the repository root with `/`. `pages` maps the path of each page to its Markdown,
    from which anchors are read; page paths are relative to the same root, or absolute outside of it.
    `exists(path)` tells of files and folders that are no sources; without it they are unknown.
    """

    repository: Repository
    graph: CallGraph
    read: Callable[[str], bytes | None]
    pages: Mapping[str, str] = field(default_factory=dict)
    exists: Callable[[str], bool] | None = None

    @property
    def files(self) -> Mapping[str, FileFacts]:
        """The facts of each file by path."""
        return self.repository.files

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a file, the root as `.`."""
        found = {"."}
        for path in self.files:
            parts = path.split("/")[:-1]
            found.update("/".join(parts[: count + 1]) for count in range(len(parts)))
        return frozenset(found)

    @cached_property
    def _texts(self) -> dict[str, tuple[str, ...] | None]:
        return {}

    def lines(self, path: str) -> tuple[str, ...] | None:
        """The lines of a file, None where there is none."""
        if path not in self._texts:
            data = self.read(path)
            encoding = self.files[path].encoding if path in self.files else "utf-8"
            self._texts[path] = None if data is None else _lines(data, encoding)
        return self._texts[path]


def _lines(data: bytes, encoding: str) -> tuple[str, ...]:
    try:
        text = data.decode(encoding, errors="replace")
    except LookupError:
        text = data.decode("utf-8", errors="replace")
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
