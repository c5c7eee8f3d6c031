"""Classes of a package in; out other modules of it that may use them, as told by their text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path

from forwardbook.analyzers.instances.find import package_place

_WORD = re.compile(rb"[A-Za-z_]\w+")
_CLASS = re.compile(rb"^class[ \t]+(\w+)", re.MULTILINE)
MOST = 6
"""Modules that are looked at on behalf of one class."""


def holder_modules(
    library: str, names: Collection[str], reads: object = None
) -> Iterator[tuple[str, list[str]]]:
    """Modules whose text names one of the classes, with the classes they define; smallest files first."""
    short = {name.rpartition(".")[2].encode() for name in names}
    own = {name.rpartition(".")[0] for name in names}
    for module, (words, classes, _) in sorted(_texts(library).items(), key=lambda one: one[1][2]):
        if module not in own and classes and words & short:
            yield module, [f"{module}.{name}" for name in classes]


@lru_cache(maxsize=2)
def _texts(library: str) -> dict[str, tuple[frozenset[bytes], tuple[str, ...], int]]:
    """Of every module of a package: the words in its text, the classes it defines, its length."""
    place = package_place(library, Path.cwd())
    if place is None or place.is_file():
        return {}
    found = {}
    for file in sorted(place.rglob("*.py")):
        try:
            text = file.read_bytes()
        except OSError:
            continue
        inside = file.relative_to(place).with_suffix("").parts
        parts = inside[:-1] if inside[-1] == "__init__" else inside
        classes = tuple(name.decode() for name in _CLASS.findall(text))
        found[".".join((library, *parts))] = frozenset(_WORD.findall(text)), classes, len(text)
    return found
