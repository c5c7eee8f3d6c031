"""What a page knows beside its own file: the call graph, and what the repository says around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from forwardbook.analyzers.index.facts import Edge, Repository

CLASSES = frozenset({"class", "struct", "union"})


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


@dataclass(frozen=True)
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
    _classes: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)

    def is_class(self, path: str, qualname: str) -> bool:
        """Whether a name of a file of the repository is a class."""
        if path not in self._classes:
            facts = self.repository.files.get(path)
            found = facts.definitions if facts else ()
            self._classes[path] = frozenset(each.qualname for each in found if each.kind in CLASSES)
        return qualname in self._classes[path]

    @cached_property
    def first_party(self) -> frozenset[str]:
        """The top-level names of the repository's own modules."""
        return _top_level_names(frozenset(self.repository.files))


def _top_level_names(paths: frozenset[str]) -> frozenset[str]:
    """Packages and modules that no package is around; of other folders the outer ones."""
    found: set[str] = set()
    for path in paths:
        folder, _, name = path.rpartition("/")
        stem, _, suffix = name.rpartition(".")
        if suffix not in ("py", "pyi"):
            continue
        packaged = f"{folder}/__init__.py" in paths if folder else "__init__.py" in paths
        if not packaged:
            found.add(stem)
            found.add(folder.removeprefix("src/").partition("/")[0])
        elif stem == "__init__":
            above, _, package = folder.rpartition("/")
            if not above or f"{above}/__init__.py" not in paths:
                found.add(package)
    return frozenset(found - {""})
