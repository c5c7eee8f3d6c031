"""A repository in, its calls, imports and inheritance out, each computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from forwardbook.analyzers.calls import decorators
from forwardbook.analyzers.calls.classes import Base
from forwardbook.analyzers.calls.crossing import Crossing
from forwardbook.analyzers.calls.edges import Calls
from forwardbook.analyzers.calls.native import LANGUAGES, Native
from forwardbook.analyzers.calls.resolver import Resolver
from forwardbook.analyzers.calls.second import Ask, Second, merged
from forwardbook.analyzers.calls.targets import overriding
from forwardbook.analyzers.calls.values import (
    ClassValue,
    FunctionValue,
    InstanceValue,
    ModuleValue,
    Place,
)
from forwardbook.analyzers.index.facts import Definition, Edge, FileFacts, Repository


class Graph:
    """Who calls, reads, constructs, imports and inherits from whom in a repository."""

    def __init__(self, repository: Repository) -> None:
        self._second: Second | None = None
        self._instead = False
        self.repository = repository
        self.resolver = Resolver(repository.files)
        self.native = Native(repository.files)
        self._crossing = Crossing(repository.files, self.native)
        self._edges: dict[Place, tuple[Edge, ...]] = {}

    def ask(self, read: Callable[[str], bytes | None], ask: Ask, name: str, *, instead: bool) -> None:
        """Let another resolver answer too, or instead of our own, from now on."""
        self._second = Second(self.resolver, read, ask, name)
        self._instead = instead
        self._edges.clear()

    def definition(self, path: str, qualname: str) -> Definition | None:
        """The definition of this name in a file: of several the one that runs."""
        return self.resolver.definition(Place(path, qualname))

    def edges_from(self, path: str, qualname: str = "") -> tuple[Edge, ...]:
        """The calls that a definition (or with no name, a module's own statements) makes, by line."""
        place = Place(path, qualname)
        known = self._edges.get(place)
        if known is None:
            known = self._edges[place] = self._find(place)
        return known

    def _find(self, place: Place) -> tuple[Edge, ...]:
        facts = self.repository.files.get(place.path)
        if facts is None:
            return ()
        if facts.language in LANGUAGES:
            return _in_order(self.native.edges(place.path, place.qualname))
        if facts.language != "python":
            return ()
        if self._second is None:
            return _in_order(self._of_python(place, facts))
        other = tuple(self._second.edges(place))
        return _in_order(other if self._instead else merged(tuple(self._of_python(place, facts)), other))

    def _of_python(self, place: Place, facts: FileFacts) -> Iterator[Edge]:
        calls, reads = facts.calls, facts.reads
        if place.qualname:
            found = self.resolver.file(place.path).definitions.get(place.qualname, [])
            calls = tuple(call for definition in found for call in definition.calls)
            reads = tuple(read for definition in found for read in definition.reads)
        for edge in Calls(self.resolver, place, calls, reads).edges():
            across = tuple(self._crossing.edges(edge)) if self.native.bindings else ()
            yield from across
            if edge.how != "unresolved" or not any(one.how == "registry" for one in across):
                yield edge
        decorated = [one for one in facts.definitions if one.decorators and one.parent == place.qualname]
        yield from decorators.edges(self.resolver, place, decorated, calls)

    def edges_to(self, path: str, qualname: str) -> tuple[Edge, ...]:
        """The calls that reach a definition, by file and line."""
        return self._incoming.get(Place(path, qualname), ())

    @cached_property
    def _incoming(self) -> dict[Place, tuple[Edge, ...]]:
        found: dict[Place, list[Edge]] = {}
        for edge in self.every_edge():
            if edge.callee_path:
                found.setdefault(Place(edge.callee_path, edge.callee), []).append(edge)
        return {place: tuple(edges) for place, edges in found.items()}

    def every_edge(self) -> tuple[Edge, ...]:
        """All calls of the repository, by file and definition."""
        files = self.repository.files
        return tuple(
            edge
            for path in sorted(files)
            for qualname in ("", *dict.fromkeys(one.qualname for one in files[path].definitions))
            for edge in self.edges_from(path, qualname)
        )

    def resolve(self, path: str, dotted: str) -> Place | None:
        """The definition that a dotted name means in a file, None where it is not one of the repository."""
        facts = self.repository.files.get(path)
        if facts is None:
            return None
        if facts.language in LANGUAGES:
            places, how, _ = self.native.named(Place(path, ""), dotted)
            return places[0] if len(places) == 1 and how == "exact" else None
        if facts.language != "python":
            return None
        values = self.resolver.text(Place(path, ""), dotted)
        if len(values.alternatives) != 1:
            return None
        value = values.alternatives[0]
        if isinstance(value, ClassValue | FunctionValue):
            return value.place
        return Place(value.path, "") if isinstance(value, ModuleValue) and value.path else None

    def imports_of(self, path: str) -> tuple[str, ...]:
        """The files of the repository that a file imports."""
        facts = self.repository.files.get(path)
        if facts is not None and facts.language in LANGUAGES:
            return self.native.included(path)
        if facts is None or facts.language != "python":
            return ()
        return tuple(
            dict.fromkeys(
                target
                for found in facts.imports
                for target in self.resolver.modules.imported(path, found)
                if target != path
            )
        )

    def imported_by(self, path: str) -> tuple[str, ...]:
        """The files of the repository that import a file."""
        return self._importers.get(path, ())

    @cached_property
    def _importers(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.repository.files):
            for target in self.imports_of(path):
                found.setdefault(target, []).append(path)
        return {path: tuple(importers) for path, importers in found.items()}

    def bases(self, path: str, qualname: str) -> tuple[Base, ...]:
        """The bases of a class: places in the repository, and names outside it."""
        return self.resolver.hierarchy.bases(Place(path, qualname))

    def mro(self, path: str, qualname: str) -> tuple[Base, ...]:
        """The method resolution order of a class, itself first."""
        return self.resolver.hierarchy.line(Place(path, qualname)).classes

    def subclasses(self, path: str, qualname: str) -> tuple[Place, ...]:
        """The classes of the repository that inherit from a class directly."""
        return self.resolver.hierarchy.subclasses(Place(path, qualname))

    def descendants(self, path: str, qualname: str) -> tuple[Place, ...]:
        """The classes of the repository that inherit from a class, directly or not."""
        return self.resolver.hierarchy.descendants(Place(path, qualname))

    def overrides(self, path: str, qualname: str) -> tuple[Place, ...]:
        """The methods of subclasses that override a method."""
        owner = Place(path, qualname.rpartition(".")[0])
        if not owner.qualname or not self.resolver.file(path).is_class(owner.qualname):
            return ()
        return overriding(self.resolver, owner, Place(path, qualname))

    def member(self, path: str, owner: str, name: str) -> Place | None:
        """The definition that an instance of a class has by a name, inherited ones included."""
        found = self.resolver.found_member(InstanceValue(Place(path, owner)), name)
        for value in found.alternatives:
            if isinstance(value, FunctionValue | ClassValue):
                return value.place
        return None


def _in_order(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Edges by line, one for each target that a line reaches in one way."""
    found: dict[tuple[int, str, str, str], Edge] = {}
    for edge in edges:
        key = (edge.line, edge.callee_path, edge.callee, edge.form)
        known = found.get(key)
        if known is None or (known.how == "possible" and edge.how != "possible"):
            found[key] = edge
    return tuple(sorted(found.values(), key=lambda edge: edge.line))
