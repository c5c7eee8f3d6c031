"""Functions that put what they decorate into a container in, what each container comes to hold out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.calls.values import (
    NOTHING,
    ClassValue,
    FunctionValue,
    InstanceValue,
    Place,
    Values,
    one,
    union,
)
from forwardbook.analyzers.index.facts import Call, Definition

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver

_STORES: Final = {"append": 0, "add": 0, "appendleft": 0, "insert": 1, "setdefault": 1, "__setitem__": 1}
Container = tuple[Place, str]


class Registries:
    """What decorators register; found with a resolver that knows no registries: order plays no part."""

    def __init__(self, resolver: Resolver, *, empty: bool = False) -> None:
        self._resolver = resolver
        self._empty = empty

    def items(self, owner: Place, name: str) -> Values:
        """What decorators put into an attribute of a class, or (name empty) into a module's own container."""
        if self._empty:
            return NOTHING
        return self._held.get((owner, name), NOTHING)

    @cached_property
    def registering(self) -> dict[Place, Container]:
        """The functions that store what they decorate, and where."""
        found: dict[Place, Container] = {}
        files = self._resolver.modules.files
        for path in sorted(files):
            for definition in files[path].definitions if files[path].language == "python" else ():
                if definition.kind not in ("function", "method") or not definition.parameters:
                    continue
                for container, decorator in _stores(self._resolver, path, definition):
                    found.setdefault(decorator, container)
        return found

    @cached_property
    def _held(self) -> dict[Container, Values]:
        names = {place.name for place in self.registering}
        files = self._resolver.modules.files
        found: dict[Container, dict[Place, Values]] = {}
        through: dict[Container, set[str]] = {}
        for path in sorted(files):
            for definition in files[path].definitions if names else ():
                for text in definition.decorators:
                    called = text.partition("(")[0]
                    if called.rpartition(".")[2] not in names:
                        continue
                    for container, receiver in self._containers(path, definition, called):
                        place = Place(path, definition.qualname)
                        is_class = definition.kind == "class"
                        value = one(ClassValue(place) if is_class else FunctionValue(place), "registry")
                        found.setdefault(container, {})[place] = value
                        through.setdefault(container, set()).add(receiver)
        return {
            container: union(values.values())
            for container, values in found.items()
            if len(through[container]) == 1  # of several objects of one class nothing tells which holds what
        }

    def _containers(self, path: str, definition: Definition, called: str) -> Iterator[tuple[Container, str]]:
        values = self._resolver.text(Place(path, definition.parent), called)
        for value in values.alternatives:
            if isinstance(value, FunctionValue) and value.place in self.registering:
                container = self.registering[value.place]
                on_instance = isinstance(value.receiver, InstanceValue)
                yield container, called.rpartition(".")[0].rpartition(".")[2] if on_instance else ""


def _stores(resolver: Resolver, path: str, definition: Definition) -> Iterator[tuple[Container, Place]]:
    """The containers that a function puts one of its parameters into, and the decorator that it serves."""
    parameters = {parameter.name for parameter in definition.parameters}
    for call in (*definition.calls, *definition.reads):
        holder, _, how = call.target.rpartition(".")
        position = _STORES.get(how)
        if position is None or not _passes(call, position, parameters):
            continue
        container = _container(resolver, path, definition, holder)
        if container is not None:
            yield container, Place(path, _decorator(resolver, path, definition).qualname)


def _passes(call: Call, position: int, parameters: set[str]) -> bool:
    return len(call.arguments) > position and call.arguments[position] in parameters


def _decorator(resolver: Resolver, path: str, definition: Definition) -> Definition:
    """The outermost function around one: what is written after the `@`."""
    file = resolver.file(path)
    while definition.parent and not file.is_class(definition.parent):
        outer = file.definition(definition.parent)
        if outer is None:
            break
        definition = outer
    return definition


def _container(resolver: Resolver, path: str, definition: Definition, holder: str) -> Container | None:
    owner, _, name = holder.rpartition(".")
    if not owner:
        file = resolver.file(path)
        return (Place(path, name), "") if name in file.constants else None
    values = resolver.text(Place(path, definition.qualname), owner)
    if len(values.alternatives) == 1:
        value = values.alternatives[0]
        if isinstance(value, ClassValue | InstanceValue):
            return value.place, name
    return None
