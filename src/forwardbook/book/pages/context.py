"""What a page knows beside its own file: the call graph, and what the repository says around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from forwardbook.analyzers.index.facts import Edge, Repository

CLASSES = frozenset({"class", "struct", "union"})
ACTORS = CLASSES | {"kernel"}
_DOCUMENTS = (".md", ".rst", ".txt")


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


def _nothing(path: str) -> bytes | None:
    return None


@dataclass
class Around:
    """What is the same for all pages of a repository, found when it is first asked for."""

    repository: Repository
    read: Callable[[str], bytes | None] = _nothing
    _known: dict[str, dict[str, str]] = field(default_factory=dict)
    _texts: dict[str, bytes] = field(default_factory=dict)

    def is_class(self, path: str, qualname: str) -> bool:
        """Whether a name of a file of the repository is a class."""
        return self._kinds(path).get(qualname, "") in CLASSES

    def is_actor(self, path: str, qualname: str) -> bool:
        """Whether a name of a file of the repository is one that acts in diagrams: a class or a kernel."""
        return self._kinds(path).get(qualname, "") in ACTORS

    def _kinds(self, path: str) -> dict[str, str]:
        if path not in self._known:
            facts = self.repository.files.get(path)
            found = facts.definitions if facts else ()
            self._known[path] = {each.qualname: each.kind for each in found if each.kind in ACTORS}
        return self._known[path]

    def text(self, path: str) -> bytes:
        """The bytes of a test or a document, empty where they cannot be had."""
        if path not in self._texts:
            self._texts[path] = self.read(path) or b""
        return self._texts[path]

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """The paths of documents."""
        return tuple(sorted(path for path in self.repository.files if path.lower().endswith(_DOCUMENTS)))

    @cached_property
    def first_party(self) -> frozenset[str]:
        """The top-level names of the repository's own modules."""
        return _top_level_names(frozenset(self.repository.files))

    def has_module(self, dotted: str) -> bool:
        """Whether a file or folder of the repository can be what a dotted module name means."""
        return dotted.replace(".", "/") in self._modules

    @cached_property
    def _modules(self) -> frozenset[str]:
        found: set[str] = set()
        for path in self.repository.files:
            parts = path.rpartition(".")[0].removesuffix("/__init__").split("/")
            for end in range(1, len(parts) + 1):
                found.update("/".join(parts[start:end]) for start in range(end))
        return frozenset(found)

    @cached_property
    def _names(self) -> Counter[str]:
        return Counter(path.rpartition("/")[2] for path in self.repository.files)

    def short(self, path: str) -> str:
        """The file's name alone where no other file has it, else its whole path."""
        name = path.rpartition("/")[2]
        return name if self._names[name] == 1 and "." in name else path


@dataclass(frozen=True)
class Context:
    """What is known around a file; `around` may be shared by the pages of a repository.

    `pages` maps a source file to its page, relative to the folder of pages; `costs` are keys of the module
    database (`transformers_LlamaMLP`); those of `formula_pages` have a page in `modules_folder`, which is
    named as it is reached from the pages.
    `read` gives tests and documents, out of which real examples are taken.
    """

    repository: Repository
    updated: str = ""  # date of the last commit that touched the file, as YYYY-MM-DD
    commit: str = ""
    pages: Mapping[str, str] = field(default_factory=dict)
    read: Callable[[str], bytes | None] = _nothing
    costs: frozenset[str] = frozenset()
    formula_pages: frozenset[str] = frozenset()
    modules_folder: str = "modules"
    shared: Around | None = None

    @cached_property
    def around(self) -> Around:
        """What is the same for all pages."""
        return self.shared or Around(self.repository, self.read)


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
