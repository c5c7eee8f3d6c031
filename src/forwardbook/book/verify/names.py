"""Names as a page writes them in; the files, definitions and identifiers that they mean out."""

from __future__ import annotations

import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.index.facts import Attribute, Definition, FileFacts, Span
from forwardbook.book.verify.sources import Sources
from forwardbook.book.verify.words import Words

CLASSES: Final = frozenset({"class", "struct", "union", "enum"})
MODULE: Final = Definition("", "", "constant", Span(0, 0), Span(0, 0))
"""Stands for a file as a whole, where a definition is asked for."""
_ARGUMENTS = re.compile(r"\(.*\)$", re.DOTALL)
_GENERIC = re.compile(r"[\[<].*$", re.DOTALL)
_OPEN_CLASS: Final = frozenset({"__getattr__", "__getattribute__"})
_EMPTY_BASES: Final = frozenset({"object", "ABC", "Generic", "Protocol"})


@dataclass(frozen=True, slots=True)
class Target:
    """What a name means: a definition in a file, or the file itself, which is `MODULE`."""

    path: str
    definition: Definition = MODULE

    @property
    def qualname(self) -> str:
        return self.definition.qualname

    @property
    def is_file(self) -> bool:
        return self.definition is MODULE

    @property
    def is_class(self) -> bool:
        return self.definition.kind in CLASSES


@dataclass(frozen=True, slots=True)
class Members:
    """The names that a class has, its bases included; `complete` where no base is unknown."""

    names: frozenset[str]
    complete: bool


def clean(name: str) -> str:
    """A name without arguments, decorator sign and C++ scopes: `@a::b(x)` becomes `a.b`."""
    bare = name.strip().lstrip("@*&").strip()
    text = bare if bare.endswith("operator()") else _ARGUMENTS.sub("", bare).rstrip(":")
    return text.replace("::", ".").strip()


class Names(Words):
    """All names of the sources."""

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self.by_name: dict[str, list[Target]] = defaultdict(list)
        self.by_qualname: dict[str, list[Target]] = defaultdict(list)
        self.by_module: dict[str, list[str]] = defaultdict(list)
        self._inside: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.by_file_name: dict[str, list[str]] = defaultdict(list)
        for path, facts in sources.files.items():
            self.by_file_name[path.rpartition("/")[2]].append(path)
            if facts.module:
                self.by_module[facts.module].append(path)
            for definition in facts.definitions:
                target = Target(path, definition)
                self.by_name[definition.name].append(target)
                self.by_qualname[definition.qualname].append(target)
                self._inside[path, definition.qualname.rpartition(".")[0]].append(definition.name)
        self._targets: dict[tuple[str, tuple[str, ...]], tuple[Target, ...]] = {}
        self._members: dict[tuple[str, str], Members] = {}

    # -- what a name means

    def files_named(self, text: str) -> tuple[str, ...]:
        """The files that a path means: itself, or the files whose path ends so."""
        path = text.removeprefix("./")
        if path in self.sources.files:
            return (path,)
        same = self.by_file_name.get(path.rpartition("/")[2], ())
        return tuple(one for one in same if one.endswith("/" + path))

    def targets(self, name: str, near: tuple[str, ...] = ()) -> tuple[Target, ...]:
        """What a name may mean, seen from the files `near`; the first rule that finds anything decides."""
        wanted = (clean(name), near)
        if wanted not in self._targets:
            found = next((hits for rule in self._rules(*wanted) if (hits := list(rule))), [])
            self._targets[wanted] = tuple(dict.fromkeys(found))
        return self._targets[wanted]

    def _rules(self, name: str, near: tuple[str, ...]) -> Iterator[Iterable[Target]]:
        if not name:
            return
        if name in self.sources.files:
            yield [Target(name)]
        for path in near:
            yield self.defined(path, name)
        for path in near:
            yield self._resolved(path, name)
        yield self.by_qualname.get(name, ())
        yield [Target(path) for path in self.by_module.get(name, ())]
        yield self._through_module(name)
        yield self._ending(name)
        yield self._inherited(name, near)
        yield [Target(path) for path in self.files_named(name)] if "." in name or "/" in name else ()

    def defined(self, path: str, name: str) -> list[Target]:
        """The definitions of a file with this qualified name, else those whose qualified name ends so."""
        found = [one for one in self.by_qualname.get(name, ()) if one.path == path]
        if found:
            return found
        last = self.by_name.get(name.rpartition(".")[2], ())
        return [one for one in last if one.path == path and one.qualname.endswith("." + name)]

    def _resolved(self, path: str, name: str) -> list[Target]:
        found = self.sources.graph.resolve(path, name) if path in self.sources.files else None
        return [] if found is None else self.at(*found)

    def at(self, path: str, qualname: str) -> list[Target]:
        """The definitions at a place that the call graph names; the file itself for an empty qualname."""
        if not qualname:
            return [Target(path)] if path in self.sources.files else []
        return [one for one in self.by_qualname.get(qualname, ()) if one.path == path]

    def _through_module(self, name: str) -> list[Target]:
        parts = name.split(".")
        for count in range(len(parts) - 1, 0, -1):
            paths = self.by_module.get(".".join(parts[:count]), ())
            rest = ".".join(parts[count:])
            hits = (self.defined_exactly(path, rest) or self._resolved(path, rest) for path in paths)
            if found := [one for some in hits for one in some]:
                return found
        return []

    def defined_exactly(self, path: str, qualname: str) -> list[Target]:
        """The definitions of a file with this qualified name."""
        return [one for one in self.by_qualname.get(qualname, ()) if one.path == path]

    def _ending(self, name: str) -> list[Target]:
        last = name.rpartition(".")[2]
        if last == name:
            return list(self.by_name.get(name, ()))
        tail = "." + name
        return [one for one in self.by_name.get(last, ()) if self._long_name(one).endswith(tail)]

    def _long_name(self, target: Target) -> str:
        facts = self.sources.files[target.path]
        return f".{facts.module}.{target.qualname}" if facts.module else "." + target.qualname

    def _inherited(self, name: str, near: tuple[str, ...]) -> list[Target]:
        head, _, last = name.rpartition(".")
        if not head:
            return []
        owners = [one for one in self.targets(head, near) if one.is_class]
        return [hit for owner in owners for hit in self.method(owner, last)]

    # -- classes

    def bases(self, target: Target) -> tuple[list[Target], list[str]]:
        """The first-party bases of a class, and the names of the others."""
        found: list[Target] = []
        other: list[str] = []
        for written in target.definition.bases:
            if "=" in written:
                continue
            name = base_name(written)
            hits = self._resolved(target.path, name) or self._beside(target, name)
            classes = [one for one in hits if one.is_class and one != target]
            found += classes
            if not classes:
                other.append(name)
        return found, other

    def _beside(self, target: Target, name: str) -> list[Target]:
        hits = self.defined(target.path, name)
        if not hits and self.sources.files[target.path].language in ("cpp", "cuda", "c"):
            hits = self._ending(name)
        return [one for one in hits if one != target]

    def lineage(self, target: Target) -> Iterator[Target]:
        """The class and all its first-party bases, near ones first."""
        waiting, seen = [target], {(target.path, target.qualname)}
        while waiting:
            one = waiting.pop(0)
            yield one
            for base in self.bases(one)[0]:
                if (base.path, base.qualname) not in seen:
                    seen.add((base.path, base.qualname))
                    waiting.append(base)

    def method(self, owner: Target, name: str) -> list[Target]:
        """The definition of a member in the nearest class of the lineage that has it."""
        for one in self.lineage(owner):
            if found := self.defined_exactly(one.path, f"{one.qualname}.{name}"):
                return found
        return []

    def members(self, owner: Target) -> Members:
        """The names of a class's members, its bases' included."""
        place = (owner.path, owner.qualname)
        if place not in self._members:
            self._members[place] = self._gather_members(owner)
        return self._members[place]

    def _gather_members(self, owner: Target) -> Members:
        names: set[str] = set()
        complete = True
        for one in self.lineage(owner):
            for same in self.defined_exactly(one.path, one.qualname):
                names.update(attribute.name for attribute in same.definition.attributes)
            names.update(self._inside[one.path, one.qualname])
            for other in self.bases(one)[1]:
                last = other.rpartition(".")[2]
                builtin = getattr(builtins, last, None)
                if isinstance(builtin, type):
                    names.update(dir(builtin))
                elif last not in _EMPTY_BASES:
                    complete = False
        return Members(frozenset(names | set(dir(object))), complete and not names & _OPEN_CLASS)


def base_name(written: str) -> str:
    """The name of a base as written: `public ns::Base<T>` and `pkg.Base[T]` give `ns.Base` and `pkg.Base`."""
    words = _GENERIC.sub("", written.strip()).split()
    return clean(words[-1]) if words else ""


def constants_of(facts: FileFacts, name: str) -> list[Attribute]:
    """The bindings of a module's or class's constant: `NAME` or `Class.NAME`."""
    head, _, last = name.rpartition(".")
    if not head:
        return [one for one in facts.constants if one.name == last]
    owners = (d for d in facts.definitions if d.qualname == head or d.qualname.endswith("." + head))
    return [one for owner in owners for one in owner.attributes if one.name == last]
