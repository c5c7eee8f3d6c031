"""What a person typed in; out the module, class and file that it means, found as text without an import."""

from __future__ import annotations

import ast
import codecs
import difflib
import importlib.util
import itertools
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forwardbook.analyzers.index.quiet import quiet_tree, top_level
from forwardbook.errors import ForwardbookError

_CLASS = re.compile(rb"^class[ \t]+(\w+)", re.MULTILINE)
_ODD = re.compile(rb"^[ \t]*class[ \t][^\n:(]*[\x80-\xff]", re.MULTILINE)  # a name that is not ASCII
_INNER = re.compile(rb"^[ \t]+class[ \t]+\w+[ \t]*[(:\[]", re.MULTILINE)
LISTED = 8  # as many near or ambiguous names as a person reads
# Files that are no modules of their own: sources from which transformers generates its modeling files.
GENERATED_FROM = "modular_"
# Folders of other people's code, and as many files of one's own as are looked through.
SKIPPED = ("site-packages", "node_modules", "build", "__pycache__")
MOST_FILES = 5000
# Where a bare class name is looked for: package, folder in it, files.
HOMES = (("torch", "nn/modules", "*.py"), ("transformers", "models", "modeling_*.py"))


@dataclass(frozen=True)
class Found:
    """A class as text: where it is defined, and the folder to import it from."""

    module: str
    class_name: str
    file: Path
    root: Path

    @property
    def full_class_name(self) -> str:
        """The dotted name under which it is defined."""
        return f"{self.module}.{self.class_name}"


class ClassNotFound(ForwardbookError):
    """No class of that name; the message names near ones."""


class AmbiguousClass(ForwardbookError):
    """Several classes of that name; the message lists their full names."""


def find_class(typed: str, folder: Path | None = None) -> Found:
    """The class meant by `LlamaAttention`, `torch.nn.Linear` or `file.py:Class`; `folder` is the user's."""
    folder = folder or Path.cwd()
    path, colon, name = typed.rpartition(":")
    if colon and path.endswith(".py"):
        return _in_file(typed, (folder / path).resolve(), unicodedata.normalize("NFKC", name))
    if typed.endswith(".py"):
        raise ClassNotFound(
            _message(typed, "a file needs a class name after a colon", _names(folder / typed))
        )
    if "." in typed:
        return _dotted(typed, folder)
    return _bare(typed, folder)


def _in_file(typed: str, file: Path, name: str) -> Found:
    if not file.is_file():
        raise ClassNotFound(f"looking for {typed}: there is no file {file}")
    if name not in _names(file):
        raise ClassNotFound(
            _message(typed, f"{file.name} defines no class {name}", _near(name, _names(file)))
        )
    return _found(file, name)


def _found(file: Path, name: str) -> Found:
    """The class in a file, its module named from the outermost folder that is a package."""
    root = file.parent
    parts = [] if file.stem == "__init__" else [file.stem]
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    return Found(".".join(parts), name, file, root)


def _dotted(typed: str, folder: Path) -> Found:
    parts = typed.split(".")
    top = package_place(parts[0], folder)
    if top is None:
        raise ClassNotFound(
            f"looking for {typed}: no module or package {parts[0]!r} is installed or in {folder}"
        )
    place, name = top, parts[-1]
    for part in parts[1:-1]:
        deeper = _step(place, part)
        if deeper is None:
            within = place if place.is_dir() else place.parent
            raise ClassNotFound(
                _message(typed, f"{within.name} has no module {part!r}", _near(name, _all_names(within)))
            )
        place = deeper
    file = place / "__init__.py" if place.is_dir() else place
    if file.is_file() and name in _names(file):
        return _found(file, name)
    if not place.is_dir():
        raise ClassNotFound(
            _message(typed, f"{file.name} defines no class {name}", _near(name, _names(file)))
        )
    return _only(typed, name, _definitions(place, name), place)


def package_place(name: str, folder: Path) -> Path | None:
    """The folder or file of a top-level package or module; finding the spec of a top name imports nothing."""
    for place in (folder / name, folder / f"{name}.py"):
        if (place / "__init__.py").is_file() or place.is_file():
            return place
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return folder / name if (folder / name).is_dir() else None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None


def _step(place: Path, part: str) -> Path | None:
    if (place / part).is_dir():
        return place / part
    return place / f"{part}.py" if (place / f"{part}.py").is_file() else None


def _bare(typed: str, folder: Path) -> Found:
    known: list[str] = []
    for package, inside, pattern in HOMES:
        top = package_place(package, folder)
        files = sorted((top / inside).rglob(pattern)) if top is not None else []
        places = [file for file in files if typed in _names(file)]
        if places:
            return _only(typed, typed, places, top or folder)
        known += [name for file in files for name in _names(file)]
    own = list(itertools.islice(_own_files(folder), MOST_FILES))
    places = [file for file in own if typed in _names(file)]
    known += [name for file in own for name in _names(file)]
    if not places:
        raise ClassNotFound(
            _message(
                typed, "torch.nn, transformers and this folder define no such class", _near(typed, known)
            )
        )
    return _only(typed, typed, places, folder)


def _only(typed: str, name: str, files: list[Path], place: Path) -> Found:
    """The one definition; where one is public and the others are not, that."""
    if not files:
        raise ClassNotFound(
            _message(typed, f"{place.name} defines no class {name}", _near(name, _all_names(place)))
        )
    public = [file for file in files if not _is_private(file)] or files
    if len(public) > 1:
        names = [_found(file, name).full_class_name for file in public]
        listed = ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if names[LISTED:] else "")
        raise AmbiguousClass(f"looking for {typed}: {len(names)} modules define it; say which: {listed}")
    return _found(public[0], name)


def _is_private(file: Path) -> bool:
    """Whether its module, or a package around it, has a name that begins with an underscore."""
    own = () if file.stem == "__init__" else (file.stem,)
    return any(part.startswith("_") for part in (*file.parts[-3:-1], *own))


def _definitions(place: Path, name: str) -> list[Path]:
    return [file for file in _files(place) if name in _names(file)]


def _files(place: Path) -> Iterator[Path]:
    return (file for file in sorted(place.rglob("*.py")) if not file.name.startswith(GENERATED_FROM))


def _all_names(place: Path) -> Iterator[str]:
    return (name for file in (_files(place) if place.is_dir() else [place]) for name in _names(file))


def _names(file: Path) -> tuple[str, ...]:
    """The classes that a file defines when it is imported: at its top level, also inside `if` and `try`."""
    try:
        return _names_at(file, file.stat().st_mtime_ns)
    except OSError:
        return ()


@cache
def _names_at(file: Path, modified: int) -> tuple[str, ...]:
    text = file.read_bytes().removeprefix(codecs.BOM_UTF8)
    odd = _ODD.search(text) is not None
    names = [] if odd else [name.decode() for name in _CLASS.findall(text)]
    tree = quiet_tree(file) if odd or _INNER.search(text) else None  # only these few files need to be parsed
    inner = top_level(tree.body) if tree is not None else ()
    return tuple(dict.fromkeys((*names, *(node.name for node in inner if isinstance(node, ast.ClassDef)))))


def _own_files(folder: Path) -> Iterator[Path]:
    """The Python files under a folder, hidden ones and installed packages left out."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        if "pyvenv.cfg" in files:
            folders.clear()
        yield from (Path(place) / name for name in sorted(files) if name.endswith(".py"))


def _near(name: str, names: Iterable[str]) -> list[str]:
    """Names that differ by a few letters, else those that contain the name."""
    known = sorted(set(names))
    lower = {n.lower(): n for n in known}
    close = difflib.get_close_matches(name.lower(), lower, LISTED, 0.75)
    return [lower[n] for n in close] or [n for n in known if name.lower() in n.lower()][:LISTED]


def _message(typed: str, found: str, near: Iterable[str]) -> str:
    names = ", ".join(list(near)[:LISTED])
    return f"looking for {typed}: {found}" + (f"; there are {names}" if names else "")
