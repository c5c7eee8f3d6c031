"""A library in; out whether its installed source is what its release holds, every file hashed once."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, PackagePath, distribution
from pathlib import Path

from forwardbook.pipeline.versions import differing
from forwardbook.schema import Entry
from forwardbook.workspace import Database
from forwardbook.workspace.heads import Origin


def is_as_released(library: str) -> bool:
    """Whether each Python file of an installed distribution has the hash that its RECORD gives it.

    False where there is no such distribution, where it does not list its files, as one that is installed in
    place, and where a file was edited or removed: nobody then knows what the version stands for.
    """
    try:
        files = distribution(library).files
    except PackageNotFoundError:
        return False
    sources = [file for file in files or () if file.suffix == ".py" and file.parts[0] == library]
    return bool(sources) and all(map(_is_as_recorded, sources))


@cache
def is_unedited(library: str) -> bool:
    """The same, looked at once by a process."""
    return is_as_released(library)


def is_fresh(database: Database, key: str, folder: Path) -> bool:
    """Whether an entry is known to be fresh by what the index and its file say, without decoding all of it.

    False where that cannot be told so.
    """
    origin = database.origin(key)
    if origin is None or origin.proposal is not None or not is_of_release(origin, folder):
        return False
    holder = key if origin.same_as is None else origin.same_as
    if holder not in database or database.head(holder).same_as is not None:
        return False
    rules = database.rules_version
    return not differing(origin.versions, rules) or not differing(
        origin.versions, rules, database.operations(holder)
    )


def is_of_release(entry: Entry | Origin, folder: Path) -> bool:
    """Whether the class of a current entry is in an unedited release of its version: its source is known."""
    if entry.library not in entry.versions or entry.code_hash:
        return False
    own = any((place / entry.code_location.file).is_file() for place in (folder, folder / "src"))
    return not own and is_unedited(entry.library)


def _is_as_recorded(file: PackagePath) -> bool:
    if file.hash is None:
        return False
    try:
        content = Path(str(file.locate())).read_bytes()
    except OSError:
        return False
    digest = base64.urlsafe_b64encode(hashlib.new(file.hash.mode, content).digest()).decode()
    return digest.rstrip("=") == file.hash.value.rstrip("=")
