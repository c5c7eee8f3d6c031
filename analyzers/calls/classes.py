"""Classes in, their bases, method resolution order and subclasses out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.calls.values import ClassValue, OutsideValue, Place

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver

_WITHOUT_MEMBERS: Final = frozenset(
    {"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol"}
)

DEEP: Final = 100  # a longer line of ancestors is cut


@dataclass(frozen=True, slots=True)
class Outside:
    """A base class outside the repository; `dotted` is empty where what `text` writes is not followed."""

    dotted: str
    text: str


Base = Place | Outside


@dataclass(frozen=True, slots=True)
class Line:
    """The classes that are searched for a member, in their order; not `sure` where the order is a guess."""

    classes: tuple[Base, ...]
    sure: bool = True


class Hierarchy:
    """The class hierarchy of a repository."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._bases: dict[Place, tuple[Base, ...]] = {}
        self._lines: dict[Place, Line] = {}
        self._open: set[Place] = set()

    def bases(self, place: Place) -> tuple[Base, ...]:
        """The bases of a class as far as they are known, in their order."""
        known = self._bases.get(place)
        if known is not None:
            return known
        key = ("bases", place)
        if place in self._open:
            self._resolver.cut(key)
            return ()
        self._open.add(place)
        try:
            found, sure = self._resolver.settled(lambda: self._find_bases(place, key))
        finally:
            self._open.discard(place)
        if sure:
            self._bases[place] = found
        return found

    def _find_bases(self, place: Place, key: tuple[str, Place]) -> tuple[Base, ...]:
        definition = self._resolver.definition(place)
        if definition is None:
            return ()
        scope = Place(place.path, definition.parent)
        found: dict[Base, None] = {}
        for text in definition.bases:
            values = self._resolver.text(scope, text)
            known = [one for one in map(_base, values.alternatives) if one is not None and one != place]
            found.update(dict.fromkeys(known or [Outside("", text)]))
        self._resolver.close(key)
        return tuple(found)

    def line(self, place: Place) -> Line:
        """The method resolution order (C3); classes from outside stand in it as leaves."""
        known = self._lines.get(place)
        if known is not None:
            return known
        found, sure = self._resolver.settled(lambda: self._merge(place, (), {}))
        if sure:
            self._lines[place] = found
        return found

    def _merge(self, place: Place, below: tuple[Place, ...], done: dict[Place, Line]) -> Line:
        if place in below or len(below) > DEEP:
            return Line((), sure=False)
        known = self._lines.get(place) or done.get(place)
        if known is not None:
            return known
        bases = self.bases(place)
        lines = [
            self._merge(base, (*below, place), done) if isinstance(base, Place) else Line((base,))
            for base in bases
        ]
        merged = _c3([list(line.classes) for line in lines] + [list(bases)])
        sure = all(line.sure for line in lines)
        if merged is None:
            every = dict.fromkeys(one for line in lines for one in line.classes)
            return Line((place, *every), sure=False)
        done[place] = Line((place, *merged), sure)
        return done[place]

    @cached_property
    def _children(self) -> dict[Place, tuple[Place, ...]]:
        found: dict[Place, list[Place]] = {}
        modules = self._resolver.modules
        for path in sorted(modules.files):
            if modules.files[path].language != "python":
                continue
            for definition in modules.files[path].definitions:
                if definition.kind == "class" and definition.bases:
                    place = Place(path, definition.qualname)
                    for base in dict.fromkeys(self.bases(place)):
                        if isinstance(base, Place):
                            found.setdefault(base, []).append(place)
        return {place: tuple(dict.fromkeys(below)) for place, below in found.items()}

    def subclasses(self, place: Place) -> tuple[Place, ...]:
        """The classes that inherit from a class directly."""
        return self._children.get(place, ())

    def descendants(self, place: Place) -> tuple[Place, ...]:
        """All classes that inherit from a class, directly or not, nearest first."""
        found: dict[Place, None] = {}
        waiting = list(self.subclasses(place))
        while waiting:
            one = waiting.pop(0)
            if one not in found and one != place:
                found[one] = None
                waiting.extend(self.subclasses(one))
        return tuple(found)


def has_members(base: Outside) -> bool:
    """Whether a class from outside may hold the member that is looked for."""
    return base.dotted not in _WITHOUT_MEMBERS


def _base(value: object) -> Base | None:
    if isinstance(value, ClassValue):
        return value.place
    if isinstance(value, OutsideValue) and value.role == "name":
        return Outside(value.dotted, value.dotted)
    return None


def _c3(lines: list[list[Base]]) -> list[Base] | None:
    """The merge of Python's method resolution order, None where the bases contradict each other."""
    merged: list[Base] = []
    lines = [line for line in lines if line]
    while lines:
        for line in lines:
            head = line[0]
            if not any(head in other[1:] for other in lines):
                break
        else:
            return None
        merged.append(head)
        lines = [rest for line in lines if (rest := line[1:] if line[0] == head else line)]
    return merged
