"""A module's text in, its top level out, parsed one statement at a time as names of it are asked for."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import libcst as cst

from forwardbook.analyzers.reader.bindings import Binding, bindings_of
from forwardbook.analyzers.reader.sources import SourceFile, Sources, parsed

_WORD = re.compile(r"\w+|\*")


class Outline(SourceFile):
    """A source file whose statements are parsed when a name that they may bind is looked up.

    Its nodes have the structure of the whole file's, without positions: enough to resolve names and to hash.
    """

    def __init__(self, path: Path, module: str) -> None:
        # the module as a whole is never looked into, so that an empty one stands for it
        super().__init__(path, module, path.read_text(encoding="utf-8", errors="replace"), cst.Module([]))

    @cached_property
    def bindings(self) -> Mapping[str, Sequence[Binding]]:
        """What each name of the top level is bound to, in source order; `*` holds star imports."""
        try:
            chunks = tuple(_chunks(self.text))
        except (SyntaxError, ValueError, RecursionError):  # a syntax other than of the running Python
            return parsed(self.path, self.module, self.path.stat().st_mtime_ns).bindings
        return _Names(chunks, self.package)


class _Names(Mapping[str, Sequence[Binding]]):
    """The bindings of some statements, given as text; each statement is parsed once, when it is needed."""

    def __init__(self, chunks: Sequence[tuple[str, str]], package: str) -> None:
        self._texts = [text for _, text in chunks]
        self._package = package
        self._parsed: dict[int, Mapping[str, Sequence[Binding]]] = {}
        self._places: dict[str, list[int]] = {}
        for place, (name, text) in enumerate(chunks):
            for word in {name} if name else set(_WORD.findall(text)):
                self._places.setdefault(word, []).append(place)

    def __getitem__(self, name: str) -> Sequence[Binding]:
        found = [one for place in self._places.get(name, ()) for one in self._bound(place).get(name, ())]
        if not found:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for place in range(len(self._texts)) for name in self._bound(place)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _bound(self, place: int) -> Mapping[str, Sequence[Binding]]:
        if place not in self._parsed:
            self._parsed[place] = bindings_of(cst.parse_module(self._texts[place]).body, self._package)
        return self._parsed[place]


def _chunks(text: str) -> Iterator[tuple[str, str]]:
    """The text of each statement, with the name if all it binds is one class or function."""
    rows = text.split("\n")
    end, held, name = 0, "", ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the analysed code's own making: an invalid escape in a string
        tree = ast.parse(text)
    for statement in tree.body:
        decorators = getattr(statement, "decorator_list", ())
        start = min([statement.lineno, *(d.lineno for d in decorators)]) - 1
        defines = isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        body = "\n".join(rows[max(start, end) : statement.end_lineno]) + "\n"
        if start < end:  # after a semicolon, on the line of the one before
            held, name = held + body, ""
        else:
            if held:
                yield name, held
            held, name = body, statement.name if defines else ""  # type: ignore[attr-defined]
        end = statement.end_lineno or start + 1
    if held:
        yield name, held


@lru_cache(maxsize=512)
def _outline(path: Path, module: str, modified: int) -> Outline:
    return Outline(path, module)


class Outlines(Sources):
    """Finds modules as `Sources` does, and gives their outlines."""

    def read(self, path: Path, module: str) -> SourceFile:
        """The outline of a module's file."""
        return _outline(path, module, path.stat().st_mtime_ns)
