"""The sources in; every identifier that they hold, and every module that they are or import, out."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.book.verify.sources import Sources

EVERYWHERE: Final = frozenset(
    {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *dir(object), *sys.stdlib_module_names}
    | {"self", "cls", "__init__", "__main__", "__name__", "__all__", "__file__"}
)
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")


class Words:
    """All identifiers of the sources."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._words: dict[str, frozenset[bytes]] = {}
        self._bound: dict[str, frozenset[str]] = {}

    @cached_property
    def packages(self) -> frozenset[str]:
        """Every module and package of the repository."""
        found: set[str] = set()
        for facts in self.sources.files.values():
            parts = facts.module.split(".") if facts.module else []
            found.update(".".join(parts[: count + 1]) for count in range(len(parts)))
        return frozenset(found)

    @cached_property
    def known(self) -> frozenset[str]:
        """Every name that the facts hold."""
        found: set[str] = set()
        for package in self.packages:
            found.update(package.split("."))
        for path, facts in self.sources.files.items():
            found.update(_names_of_file(facts))
            *folders, file = path.split("/")
            found.update((*folders, file.partition(".")[0]))
        return frozenset(found)

    @cached_property
    def outside(self) -> frozenset[str]:
        """The first parts of every module that is imported and is none of the repository's."""
        imports = (one for facts in self.sources.files.values() for one in facts.imports)
        roots = {one.module.partition(".")[0] for one in imports if not one.level and one.module}
        return frozenset(roots | {one.replace(".", "_") for one in roots})

    @cached_property
    def imported(self) -> frozenset[str]:
        """Every dotted module that is imported anywhere, compiled ones among them."""
        imports = (one for facts in self.sources.files.values() for one in facts.imports if not one.level)
        return frozenset(name for one in imports for name in (one.module, f"{one.module}.{one.name}"))

    def written_in(self, path: str) -> frozenset[bytes]:
        """Every identifier written in a file, comments and strings included."""
        if path not in self._words:
            self._words[path] = frozenset(_IDENTIFIER.findall(self.sources.read(path) or b""))
        return self._words[path]

    def bound_in(self, path: str) -> frozenset[str]:
        """Every name that a file of Python binds anywhere: variables, parameters, aliases of imports."""
        if path not in self._bound:
            self._bound[path] = frozenset(self._bound_in(path))
        return self._bound[path]

    def _bound_in(self, path: str) -> Iterator[str]:
        facts = self.sources.files.get(path)
        if facts is None or facts.language != "python":
            return
        try:
            tree = ast.parse(self.sources.read(path) or b"")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    yield name
                case ast.alias(name=name, asname=alias):
                    yield alias or name.partition(".")[0]
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                    yield name
                case _:
                    pass

    @cached_property
    def written(self) -> frozenset[bytes]:
        """Every identifier written in any file of the repository."""
        return frozenset().union(*(self.written_in(path) for path in self.sources.files))

    def is_word(self, name: str, near: Iterable[str] = ()) -> bool:
        """Whether an identifier occurs anywhere: in the facts, in Python itself, in the text of a file."""
        if name in EVERYWHERE or name in self.known:
            return True
        encoded = name.encode()
        return any(encoded in self.written_in(path) for path in near) or encoded in self.written


def _names_of_file(facts: FileFacts) -> Iterator[str]:
    for one in facts.imports:
        yield from one.module.split(".")
        yield from (one.name, one.alias)
    yield from (one.name for one in facts.constants)
    yield from (word for call in facts.calls for word in call.target.split("."))
    for definition in facts.definitions:
        yield definition.name
        yield from (word for call in definition.calls for word in call.target.split("."))
        yield from (one.name for one in definition.parameters)
        yield from (one.name for one in definition.attributes)
    for binding in facts.bindings:
        yield from (binding.module, binding.name)
