"""A class in; of which code, which versions and which engine its formulas are, out."""

from __future__ import annotations

import hashlib
import inspect
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from forwardbook.analyzers.reader import Outlines, glance_at
from forwardbook.pipeline.versions import current_versions

ROOMS: Final = (
    "analyzers/derive",
    "analyzers/ops",
    "analyzers/symbolic",
    "entries",
    "formula",
    "pipeline/composed",
)
"""Where the code is that decides a formula."""
DIGITS: Final = 16
"""Hexadecimal digits of the engine's digest that are kept."""


@cache
def engine_digest() -> str:
    """The digest of the engine that runs; it is computed once."""
    return digest_of(Path(str(files("forwardbook"))))


def digest_of(root: Path) -> str:
    """The digest of the source files of an engine in a folder, of their names and their bytes."""
    found = hashlib.sha256()
    for path in (path for room in ROOMS for path in sorted((root / room).rglob("*.py"))):
        content = path.read_bytes()
        found.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()[:DIGITS]


def versions_of(library: str) -> dict[str, str]:
    """Those of torch and of the library, as far as these are installed."""
    found = current_versions(library)
    return {name: found[name] for name in ("torch", library) if name in found}


def source_hash(kind: type) -> str:
    """The hash of forward() and all that it reaches; empty for a class without source."""
    try:
        file = Path(inspect.getsourcefile(kind) or "")
        return _hash(kind.__qualname__, file, file.parents[kind.__module__.count(".")])
    except Exception:  # noqa: BLE001 - whatever the source of a class is, its formulas are measured
        return ""


@lru_cache(maxsize=1 << 12)
def _hash(name: str, file: Path, root: Path) -> str:
    return glance_at(name, file, _outlines(root)).source_hash


@lru_cache(maxsize=16)
def _outlines(root: Path) -> Outlines:
    return Outlines([root])
