"""A module's text in, its top level out, parsed one statement at a time as names of it are asked for."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import libcst as cst
from libcst.metadata import CodeRange

from forwardbook.analyzers.index.libcst_statements import NOT_TAKEN
from forwardbook.analyzers.reader.bindings import Binding, bindings_of
from forwardbook.analyzers.reader.sources import SourceFile, Sources, parsed, ranges

_WORD = re.compile(r"\w+|\*")


class Outline(SourceFile):
    """A source file whose statements are parsed when a name that they may bind is looked up.

    Its nodes have the structure and, asked for, the positions that they have in the whole file's tree, but
    there is no such tree.
    """

    def __init__(self, path: Path, module: str) -> None:
        # the module as a whole is never looked into, so that an empty one stands for it
        super().__init__(path, module, path.read_text(encoding="utf-8", errors="replace"), cst.Module([]))

    @cached_property
    def bindings(self) -> Mapping[str, Sequence[Binding]]:
        """What each name of the top level is bound to, in source order; `*` holds star imports."""
        return self._whole.bindings if self._whole is not None else self._names

    @cached_property
    def positions(self) -> Mapping[cst.CSTNode, CodeRange]:
        """The range of each node of a statement that has been parsed."""
        return self._whole.positions if self._whole is not None else _Places(self._names)

    @cached_property
    def _whole(self) -> SourceFile | None:
        """The file parsed at once where its statements cannot be told apart: not the running Python's."""
        try:
            self._names = _Names(tuple(_chunks(self.text)), self)
        except (SyntaxError, ValueError, RecursionError):
            return self.whole()
        return None

    def whole(self) -> SourceFile:
        """The file parsed at once; ReaderError where that cannot be."""
        return parsed(self.path, self.module, self.path.stat().st_mtime_ns)


class _Names(Mapping[str, Sequence[Binding]]):
    """The bindings of some statements, given as text; each statement is parsed once, when it is needed."""

    def __init__(self, chunks: Sequence[tuple[str, str, int]], outline: Outline) -> None:
        self._texts = [text for _, text, _ in chunks]
        self._rows = [row for _, _, row in chunks]
        self._outline = outline
        self._parsed: dict[int, Mapping[str, Sequence[Binding]]] = {}
        self._places: dict[str, list[int]] = {}
        self.trees: list[tuple[int, cst.Module]] = []
        """Each statement that has been parsed, with the number of rows above it."""
        for place, (name, text, _) in enumerate(chunks):
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
            tree = self._tree(place)
            self.trees.append((self._rows[place], tree))
            self._parsed[place] = bindings_of(tree.body, self._outline.package)
        return self._parsed[place]

    def _tree(self, place: int) -> cst.Module:
        try:
            return cst.parse_module(self._texts[place])
        except (*NOT_TAKEN, RecursionError):
            self._outline.whole()  # says where in the file
            raise


class _Places(Mapping[cst.CSTNode, CodeRange]):
    """The positions in a file of the nodes of its statements, found for a statement when one is asked for."""

    def __init__(self, names: _Names) -> None:
        self._names = names
        self._known: dict[cst.CSTNode, CodeRange] = {}
        self._done: set[cst.Module] = set()

    def __getitem__(self, node: cst.CSTNode) -> CodeRange:
        if node not in self._known:
            left = [one for one in self._names.trees if one[1] not in self._done]
            for above, tree in sorted(left, key=lambda one: not _defines(one[1], node)):
                self._known |= _positions(above, tree)
                self._done.add(tree)
                if node in self._known:
                    break
        return self._known[node]

    def __iter__(self) -> Iterator[cst.CSTNode]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _defines(tree: cst.Module, node: cst.CSTNode) -> bool:
    """Whether a node is a statement of the top level, or of the body of a class there."""
    return any(
        one is node or (isinstance(one, cst.ClassDef) and any(own is node for own in one.body.body))
        for one in tree.body
    )


def _positions(above: int, tree: cst.Module) -> Iterator[tuple[cst.CSTNode, CodeRange]]:
    for node, place in ranges(tree).items():
        start, end = place.start, place.end
        yield node, CodeRange((start.line + above, start.column), (end.line + above, end.column))


def _chunks(text: str) -> Iterator[tuple[str, str, int]]:
    """The name if all that a statement binds is one class or function, its text, and the rows above it."""
    rows = text.split("\n")
    end, held, name, above = 0, "", "", 0
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
                yield name, held, above
            held, name = body, statement.name if defines else ""  # type: ignore[attr-defined]
            above = start
        end = statement.end_lineno or start + 1
    if held:
        yield name, held, above


@lru_cache(maxsize=512)
def _outline(path: Path, module: str, modified: int) -> Outline:
    return Outline(path, module)


class Outlines(Sources):
    """Finds modules as `Sources` does, and gives their outlines."""

    @staticmethod
    def of(sources: Sources) -> Outlines:
        """What finds the same modules: roots and places found so far are shared."""
        if isinstance(sources, Outlines):
            return sources
        found = Outlines()
        found.roots, found._found = sources.roots, sources._found
        return found

    def read(self, path: Path, module: str) -> SourceFile:
        """The outline of a module's file."""
        return _outline(path, module, path.stat().st_mtime_ns)
