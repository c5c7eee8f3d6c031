"""A dotted module name or a path in, its parsed source out; nothing is ever imported."""

from __future__ import annotations

import importlib.machinery
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from forwardbook.analyzers.reader.bindings import Binding, bindings_of
from forwardbook.analyzers.reader.facts import Span
from forwardbook.errors import ForwardbookError


class ReaderError(ForwardbookError):
    """The source of a class cannot be found or parsed."""


class SourceFile:
    """One parsed source file: text, tree, positions and what its top level binds."""

    def __init__(self, path: Path, module: str, text: str, tree: cst.Module) -> None:
        self.path = path
        self.module = module
        self.text = text
        self.tree = tree
        self.lines = text.splitlines()

    def __repr__(self) -> str:
        return f"<source {self.module} at {self.path}>"

    @property
    def is_package(self) -> bool:
        """True for an `__init__.py`."""
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        """The package that relative imports of this file start from."""
        return self.module if self.is_package else self.module.rpartition(".")[0]

    @cached_property
    def positions(self) -> Mapping[cst.CSTNode, CodeRange]:
        """Each node's range, parentheses, comments and blank space excluded."""
        return ranges(self.tree)

    @cached_property
    def bindings(self) -> Mapping[str, Sequence[Binding]]:
        """What each name of the top level is bound to, in source order; `*` holds star imports."""
        return bindings_of(self.tree.body, self.package)

    def span(self, node: cst.CSTNode) -> Span:
        """The range of a node."""
        place = self.positions[node]
        return Span(place.start.line, place.start.column, place.end.line, place.end.column)

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node without its comments and indentation."""
        return self.tree.code_for_node(node).strip()

    def text_of(self, span: Span) -> str:
        """The text of a range."""
        rows = self.lines[span.line - 1 : span.end_line]
        if not rows:
            return ""
        rows[-1] = rows[-1][: span.end_col]
        rows[0] = rows[0][span.col :]
        return "\n".join(rows)


def ranges(tree: cst.Module) -> dict[cst.CSTNode, CodeRange]:
    """Each node's range in the text that a tree was parsed from."""
    found = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider)
    return {node: place for node, place in found.items() if isinstance(place, CodeRange)}


@lru_cache(maxsize=512)
def parsed(path: Path, module: str, modified: int) -> SourceFile:
    """A file parsed whole; `modified` tells its states apart."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    try:
        tree = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        place = f"line {error.raw_line}, column {error.raw_column}"
        raise ReaderError(
            f"reading {path}: syntax error at {place}; correct the file and read it again"
        ) from error
    except cst.CSTValidationError as error:  # letters of a newer Unicode than Python's in a name
        raise ReaderError(f"reading {path}: {error}; correct the file and read it again") from error
    except RecursionError as error:
        raise ReaderError(f"reading {path}: the source nests too deeply to be parsed") from error
    return SourceFile(path, module, text, tree)


_BINDS = re.compile(
    r"^(?:class|def)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=|^[ \t]+(?:class|def)\s+(\w+)", re.MULTILINE
)


@lru_cache(maxsize=8192)
def _bound_words(path: Path) -> frozenset[str]:
    """The names that a file seems to define or assign, by a look at its lines."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    return frozenset(word for found in _BINDS.findall(text) for word in found if word)


class Sources:
    """Finds modules on the import path, and beneath further roots, without importing them."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self.roots = [str(root) for root in roots]
        self._found: dict[str, Path | None] = {}

    def find(self, module: str) -> Path | None:
        """The file of a module, None when it has no source."""
        if module not in self._found:
            self._found[module] = self._search(module)
        return self._found[module]

    def _search(self, module: str) -> Path | None:
        path: list[str] | None = [*self.roots, *sys.path]
        found: Path | None = None
        for index, part in enumerate(module.split(".")):
            if not part or path is None:
                return None
            name = part if index == 0 else ".".join(module.split(".")[: index + 1])
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            if spec is None:
                return None
            path = (
                list(spec.submodule_search_locations) if spec.submodule_search_locations is not None else None
            )
            origin = spec.origin
            found = Path(origin) if origin and origin.endswith(".py") else None
        return found

    def exists(self, module: str) -> bool:
        """True when a module is installed, with source or without."""
        path: list[str] | None = [*self.roots, *sys.path]
        parts = module.split(".")
        for index in range(len(parts)):
            spec = importlib.machinery.PathFinder.find_spec(".".join(parts[: index + 1]), path)
            if spec is None:
                return False
            path = list(spec.submodule_search_locations or ())
        return True

    def load(self, module: str) -> SourceFile | None:
        """The parsed source of a module, None when it has none."""
        path = self.find(module)
        return None if path is None else self.read(path, module)

    def read(self, path: Path, module: str) -> SourceFile:
        """The parsed source of a module's file."""
        return parsed(path, module, path.stat().st_mtime_ns)

    def mentions(self, module: str, name: str) -> bool:
        """False when no file a star import of this module reaches binds the name."""
        path = self.find(module)
        if path is None:
            return False
        files = path.parent.rglob("*.py") if path.name == "__init__.py" else [path]
        return any(name in _bound_words(file) for file in files)

    def load_path(self, path: Path) -> SourceFile:
        """The parsed source of a file; its package's parent becomes a root for imports."""
        path = path.resolve()
        if not path.is_file():
            raise ReaderError(f"reading {path}: there is no such file")
        names, folder = ([] if path.stem == "__init__" else [path.stem]), path.parent
        while (folder / "__init__.py").is_file():
            names.insert(0, folder.name)
            folder = folder.parent
        if str(folder) not in self.roots:
            self.roots.insert(0, str(folder))
            self._found.clear()
        return self.read(path, ".".join(names))

    def split(self, dotted: str) -> tuple[SourceFile, str]:
        """The longest prefix of a dotted name that is a module, and the rest."""
        parts = dotted.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            source = self.load(".".join(parts[:cut]))
            if source is not None:
                return source, ".".join(parts[cut:])
        raise ReaderError(
            f"looking for {dotted}: no module of this name has source on the import path; "
            "give the file and the class name"
        )


def relative_file(source: SourceFile) -> str:
    """The file of a source from its top package on, the same on every machine."""
    depth = source.module.count(".") + (2 if source.is_package else 1)
    return "/".join(source.path.parts[-depth:])


def descend(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all beneath it, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


@lru_cache(maxsize=64)
def beneath(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """What `descend` gives, kept while several ask for it: finding the children of a node is slow."""
    return tuple(descend(node))
