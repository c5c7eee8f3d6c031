"""What a page knows beside its own file: the call graph, and what the repository says around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from forwardbook.analyzers.index.facts import Edge, Repository


class Calls(Protocol):
    """What pages ask of the call graph (`forwardbook.analyzers.calls`)."""

    def edges_from(self, path: str, qualname: str) -> tuple[Edge, ...]:
        """The calls that a definition makes (`qualname` empty: the module's own level), in source order."""
        ...

    def edges_to(self, path: str, qualname: str) -> tuple[Edge, ...]:
        """The calls that lead to a definition."""
        ...

    def imports_of(self, path: str) -> tuple[str, ...]:
        """The first-party files that a file imports."""
        ...

    def imported_by(self, path: str) -> tuple[str, ...]:
        """The first-party files that import a file."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What is known around a file.

    `pages` maps a source file to its page, relative to the folder of pages; `texts` holds tests and documents
    by path, out of which real examples are taken; `costs` are keys of the module database
    (`transformers_LlamaMLP`) and `modules_folder` leads from the pages to their formula pages.
    """

    repository: Repository
    updated: str = ""  # date of the last commit that touched the file, as YYYY-MM-DD
    commit: str = ""
    pages: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, bytes] = field(default_factory=dict)
    costs: frozenset[str] = frozenset()
    modules_folder: str = "modules"
