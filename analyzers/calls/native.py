"""Facts of C, C++ and CUDA files in, calls, launches and bindings to Python out, by the rules of linking."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, Literal

from forwardbook.analyzers.calls.nearness import shared_folders
from forwardbook.analyzers.calls.values import Place
from forwardbook.analyzers.index.facts import Binding, Call, Definition, Edge, FileFacts, How, Launch

Form = Literal["call", "launch", "binding"]
LANGUAGES: Final = frozenset({"c", "cpp", "cuda"})
_ARGUMENTS: Final = re.compile(r"<[^<>]*>")
_CLASSES: Final = frozenset({"class", "struct", "union"})
_TYPES: Final = frozenset(
    {"int", "long", "float", "double", "bool", "char", "short", "unsigned", "size_t", "half"}
)
_CASTS: Final = frozenset(
    {"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "sizeof", "decltype"}
)


class Native:
    """The native half of a repository."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files
        self._reach: dict[str, frozenset[str]] = {}

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        return tuple(path for path in sorted(self._files) if self._files[path].language in LANGUAGES)

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[str, Definition]]]:
        """The definitions and declarations by the last part of their names."""
        found: dict[str, list[tuple[str, Definition]]] = {}
        for path in self._paths:
            for definition in self._files[path].definitions:
                if definition.kind not in ("typedef", "constant", "enum"):
                    found.setdefault(definition.name, []).append((path, definition))
        return found

    @cached_property
    def _by_file(self) -> dict[str, list[str]]:
        """The native files by the last part of their paths."""
        found: dict[str, list[str]] = {}
        for path in self._paths:
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def included(self, path: str) -> tuple[str, ...]:
        """The files of the repository that a native file includes."""
        folder = path.rpartition("/")[0]
        found: dict[str, None] = {}
        for one in self._files[path].imports:
            beside = _normal(f"{folder}/{one.module}" if folder else one.module)
            if beside in self._files:
                found[beside] = None
                continue
            tail = _normal(one.module)
            named = self._by_file.get(tail.rpartition("/")[2], [])
            matching = [other for other in named if other == tail or other.endswith(f"/{tail}")]
            if len(matching) == 1:
                found[matching[0]] = None
        return tuple(other for other in found if other != path)

    def _reached(self, path: str) -> frozenset[str]:
        """A file and all that it includes, directly or not."""
        if path not in self._reach:
            seen, waiting = {path}, [path]
            while waiting:
                for other in self.included(waiting.pop()):
                    if other not in seen and self._files[other].language in LANGUAGES:
                        seen.add(other)
                        waiting.append(other)
            self._reach[path] = frozenset(seen)
        return self._reach[path]

    def edges(self, path: str, qualname: str) -> Iterator[Edge]:
        """The calls and launches of a native definition, or of a file outside every definition."""
        facts = self._files[path]
        if not qualname:
            for call in facts.calls:
                yield from self._of_call(Place(path, ""), call)
            for launch in facts.launches:
                yield from self._of_launch(Place(path, ""), launch)
            for binding in facts.bindings:
                yield from self.bound(binding, path, Place(path, ""), binding.line)
            return
        for definition in facts.definitions:
            if definition.qualname == qualname:
                for call in definition.calls:
                    yield from self._of_call(Place(path, qualname), call)
                for launch in definition.launches:
                    yield from self._of_launch(Place(path, qualname), launch)

    def _of_call(self, scope: Place, call: Call) -> Iterator[Edge]:
        target = _plain(call.target)
        if target in _CASTS or target in _TYPES:
            return
        if "." in target.removeprefix("this.") or "(" in target or "->" in target.removeprefix("this->"):
            reason = "the type of what stands before it is not followed"
            yield _edge(scope, call.line, "unresolved", "", call.target, reason)
            return
        found, how, reason = self.named(scope, target.removeprefix("this.").removeprefix("this->"))
        if not found:
            yield _edge(scope, call.line, "external", "", target)
        for place in found:
            yield _edge(scope, call.line, how, place.path, place.qualname, reason)

    def _of_launch(self, scope: Place, launch: Launch) -> Iterator[Edge]:
        found, how, reason = self.named(scope, _plain(launch.kernel))
        if not found:
            reason = f"no kernel of the repository is called `{launch.kernel}`"
            yield _edge(scope, launch.line, "unresolved", "", launch.kernel, reason, "launch")
        for place in found:
            yield _edge(scope, launch.line, how, place.path, place.qualname, reason, "launch")

    def named(self, scope: Place, target: str) -> tuple[tuple[Place, ...], How, str]:
        """The definitions that a name can mean: seen from its own namespaces outwards, then as linked."""
        parts = target.strip(":").replace("::", ".").split(".")
        known = self._by_name.get(parts[-1], [])
        seen = self._reached(scope.path)
        around = scope.qualname.split(".")[:-1] if scope.qualname else []
        for depth in range(len(around), -1, -1):
            wanted = ".".join([*around[:depth], *parts])
            visible = [one for one in known if one[1].qualname == wanted and one[0] in seen]
            if visible:
                return self._linked(scope, wanted, visible, known)
        if len(parts) == 1:
            nested = [one for one in known if one[0] in seen and not _is_member(self._files, one)]
            if nested:
                names = {definition.qualname for _, definition in nested}
                if len(names) == 1:
                    return self._linked(scope, names.pop(), nested, known)
                places = tuple(dict.fromkeys(Place(path, one.qualname) for path, one in nested))
                return places, "possible", "the namespaces it is looked up in are not followed"
        return (), "exact", ""

    def _linked(
        self,
        scope: Place,
        wanted: str,
        visible: list[tuple[str, Definition]],
        known: list[tuple[str, Definition]],
    ) -> tuple[tuple[Place, ...], How, str]:
        bodies = [path for path, one in visible if not one.is_declaration]
        if not bodies:
            bodies = [path for path, one in known if one.qualname == wanted and not one.is_declaration]
        if not bodies:
            return (Place(visible[0][0], wanted),), "exact", "only its declaration is in the repository"
        if scope.path in bodies:
            return (Place(scope.path, wanted),), "exact", ""
        places = list(dict.fromkeys(Place(path, wanted) for path in bodies))
        if len(places) > 1:
            best = max(shared_folders(place.path, scope.path) for place in places)
            places = [place for place in places if shared_folders(place.path, scope.path) == best]
        if len(places) == 1:
            return (places[0],), "exact", ""
        return tuple(places), "possible", f"{len(places)} files define it"

    @cached_property
    def bindings(self) -> dict[str, list[tuple[str, Binding]]]:
        """What is made callable from Python, by its name there."""
        found: dict[str, list[tuple[str, Binding]]] = {}
        for path in self._paths:
            for binding in self._files[path].bindings:
                found.setdefault(binding.name, []).append((path, binding))
        return found

    def bound(
        self, binding: Binding, path: str, scope: Place, line: int, how: How = "exact"
    ) -> Iterator[Edge]:
        """The native function behind a binding."""
        target = _plain(binding.function.lstrip("&"))
        found, sure, _ = self.named(Place(path, ""), target) if target else ((), how, "")
        reason = f"bound as `{binding.name}` at {path}:{binding.line}"
        for place in found:
            label = how if sure == "exact" else "possible"
            yield _edge(scope, line, label, place.path, place.qualname, reason, "binding")


def _edge(
    scope: Place, line: int, how: How, path: str, callee: str, reason: str = "", form: Form = "call"
) -> Edge:
    return Edge(
        path=scope.path,
        caller=scope.qualname,
        line=line,
        how=how,
        callee_path=path,
        callee=callee,
        reason=reason,
        form=form,
    )


def _is_member(files: Mapping[str, FileFacts], found: tuple[str, Definition]) -> bool:
    """Whether a definition belongs to a class rather than to a namespace."""
    path, definition = found
    owner = definition.qualname.rpartition(".")[0]
    return bool(owner) and any(
        one.qualname == owner and one.kind in _CLASSES for one in files[path].definitions
    )


def _plain(target: str) -> str:
    """A name without its template arguments."""
    while True:
        plain = _ARGUMENTS.sub("", target)
        if plain == target:
            return plain.strip()
        target = plain


def _normal(path: str) -> str:
    """A path without `.` and `..`."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/".join(parts)
