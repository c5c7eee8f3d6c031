"""What stands out in a repository: facts and call graph in; user-facing API and key classes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

from forwardbook.analyzers.index.facts import Definition, Edge, FileFacts, Repository
from forwardbook.book.repository.project import Project
from forwardbook.book.repository.sentences import CLASSES

NATIVE: Final = frozenset({"c", "cpp", "cuda"})
CODE: Final = NATIVE | {"python", "notebook"}
FUNCTIONS: Final = frozenset({"function", "kernel"})


class Calls(Protocol):
    """What the repository's pages ask of the call graph."""

    def resolve(self, path: str, dotted: str) -> tuple[str, str] | None:
        """The file and qualname that a dotted name means in a file."""
        ...

    def edges_from(self, path: str, qualname: str) -> tuple[Edge, ...]:
        """The calls that a definition makes, in source order; of the module itself for an empty name."""
        ...

    def bases(self, path: str, qualname: str) -> Sequence[object]:
        """What a class extends: first-party classes as (path, qualname), others in some other form."""
        ...

    def subclasses(self, path: str, qualname: str) -> Sequence[tuple[str, str]]:
        """The classes that extend a class."""
        ...

    def imports_of(self, path: str) -> tuple[str, ...]:
        """The first-party files that a file imports."""
        ...

    def imported_by(self, path: str) -> tuple[str, ...]:
        """The first-party files that import a file."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A definition and the file that it stands in."""

    path: str
    definition: Definition


@dataclass(frozen=True)
class Survey:
    """A repository as its pages see it; `focus` is the folder or file treated in depth, empty for none."""

    repository: Repository
    graph: Calls
    name: str
    project: Project = field(default_factory=Project)
    focus: str = ""
    scope: str = "."
    """The folder that is documented, `.` for the whole repository."""

    @cached_property
    def files(self) -> Mapping[str, FileFacts]:
        """The files of the scope by path, sorted."""
        files = self.repository.files
        return {path: files[path] for path in sorted(files) if is_below(path, self.scope)}

    @cached_property
    def code(self) -> tuple[FileFacts, ...]:
        """The source files that are no tests."""
        return tuple(each for each in self.files.values() if each.language in CODE and not is_test(each.path))

    @cached_property
    def tests(self) -> tuple[FileFacts, ...]:
        """The source files of the tests."""
        return tuple(each for each in self.files.values() if each.language in CODE and is_test(each.path))

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """Every folder of the scope that holds source files, sorted; the root is `.`."""
        found = {folder for each in (*self.code, *self.tests) for folder in folders_above(each.path)}
        return tuple(sorted(folder for folder in found if is_below(folder, self.scope)))

    def place(self, path: str, qualname: str) -> Place | None:
        """The definition of that name in that file."""
        return self._places.get((path, qualname))

    @cached_property
    def _places(self) -> dict[tuple[str, str], Place]:
        found: dict[tuple[str, str], Place] = {}
        for path, facts in self.repository.files.items():
            for each in facts.definitions:
                found.setdefault((path, each.qualname), Place(path, each))
        return found

    @cached_property
    def in_focus(self) -> tuple[FileFacts, ...]:
        """The source files of the focus."""
        return tuple(each for each in self.code if self.focus and is_below(each.path, self.focus))

    @cached_property
    def user_api(self) -> tuple[Place, ...]:
        """Public functions and classes that packages re-export; without those, all public ones."""
        exported = {(place.path, place.definition.qualname): place for place in self._exported()}
        focus = {
            (facts.path, each.qualname): Place(facts.path, each)
            for facts in self.in_focus
            for each in public(facts)
            if not each.parent
        }
        found = (
            exported | focus
            if exported
            else {
                (facts.path, each.qualname): Place(facts.path, each)
                for facts in self.code
                for each in public(facts)
                if not each.parent
            }
        )
        return tuple(found[key] for key in sorted(found))

    @cached_property
    def main_api(self) -> tuple[Place, ...]:
        """The user-facing API, first what the most files import; what says nothing of itself comes last."""

        def weight(place: Place) -> tuple[bool, bool, int, str, str]:
            one = place.definition
            focused = bool(self.focus) and is_below(place.path, self.focus)
            return not focused, not one.docstring, -self._wanted[one.name], place.path, one.qualname

        return tuple(sorted(self.user_api, key=weight))

    @cached_property
    def _wanted(self) -> Counter[str]:
        """How many imports name each name."""
        return Counter(each.name for facts in self.files.values() for each in facts.imports if each.name)

    def _exported(self) -> Iterator[Place]:
        for facts in self.code:
            if not facts.path.endswith("__init__.py"):
                continue
            for name in self._names_given(facts):
                target = self.graph.resolve(facts.path, name)
                place = target and self.place(*target)
                if (
                    place
                    and is_below(place.path, self.scope)
                    and place.definition.is_public
                    and not place.definition.parent
                    and place.definition.kind in CLASSES | FUNCTIONS
                ):
                    yield place

    def _names_given(self, facts: FileFacts) -> Iterator[str]:
        """The public names that a package module makes available."""
        if facts.exports is not None:
            yield from facts.exports
        for each in facts.imports:
            if each.name == "*":
                source = self._module_file(facts, each.module, each.level)
                yield from _offered(source) if source else ()
            elif each.name and not (each.alias or each.name).startswith("_") and not each.guarded:
                yield each.alias or each.name
        yield from (each.qualname for each in facts.definitions if not each.parent)

    def _module_file(self, facts: FileFacts, module: str, level: int) -> FileFacts | None:
        base = facts.module.split(".")
        base = base[: len(base) - (level - 1)] if level > 1 else base
        parts = [*(base if level else ()), *([module] if module else ())]
        return self._modules.get(".".join(parts))

    @cached_property
    def _modules(self) -> dict[str, FileFacts]:
        return {each.module: each for each in self.repository.files.values() if each.module}

    @cached_property
    def key_classes(self) -> tuple[Place, ...]:
        """The classes that most else rests on, first those of the focus, then by rank."""
        ranked = sorted(
            self._ranked(), key=lambda pair: (-pair[0], pair[1].path, pair[1].definition.qualname)
        )
        focused = [place for _, place in ranked if self.focus and is_below(place.path, self.focus)]
        others = [place for _, place in ranked if not (self.focus and is_below(place.path, self.focus))]
        return (*focused, *others[: max(24 - len(focused), 12)])

    def _ranked(self) -> Iterator[tuple[float, Place]]:
        """Every public class with its weight: subclasses, re-exports, files that import it, methods."""
        heirs = Counter(
            base.rpartition(".")[2]
            for facts in self.files.values()
            for each in facts.definitions
            for base in each.bases
        )
        exported = {(place.path, place.definition.qualname) for place in self.user_api}
        for facts in self.code:
            methods = Counter(each.parent for each in facts.definitions if each.is_public)
            for each in public(facts):
                if each.kind in CLASSES and not each.parent:
                    weight = 2.0 * heirs[each.name] + self._wanted[each.name] + methods[each.qualname] / 4
                    weight += 4 * ((facts.path, each.qualname) in exported) + bool(each.docstring)
                    yield weight, Place(facts.path, each)


def public(facts: FileFacts) -> tuple[Definition, ...]:
    """The public classes, functions and methods of a file, setters too, not what is inside functions.

    Of a notebook there are none: its definitions have no lines of the file.
    """
    if facts.language == "notebook":
        return ()
    found: dict[tuple[str, int], Definition] = {}
    inside = {each.qualname for each in facts.definitions if each.kind not in CLASSES}
    for each in facts.definitions:
        if each.is_public and each.parent not in inside and each.kind not in ("macro", "typedef", "constant"):
            found.setdefault((each.qualname, each.span.start), each)
    return tuple(found.values())


def _offered(facts: FileFacts) -> Iterator[str]:
    """The names that a wildcard import takes from a module."""
    if facts.exports is not None:
        yield from facts.exports
        return
    yield from (each.qualname for each in facts.definitions if not each.parent and each.is_public)
    yield from (each.alias or each.name for each in facts.imports if each.name not in ("", "*"))


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests, by its name or that of a folder."""
    *folders, file = path.split("/")
    named = file.startswith("test_") or file.partition(".")[0].endswith("_test") or file == "conftest.py"
    return named or any(folder in ("test", "tests", "testing_fixtures") for folder in folders)


def is_below(path: str, folder: str) -> bool:
    """Whether a path is the folder (or file) itself or below it."""
    return folder in (".", "") or path == folder or path.startswith(f"{folder}/")


def folders_above(path: str) -> tuple[str, ...]:
    """The folders that a path is in, from the root `.` downward."""
    parts = path.split("/")[:-1]
    return (".", *("/".join(parts[: count + 1]) for count in range(len(parts))))
