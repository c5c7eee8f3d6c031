"""A folder in, the git checkout that it lies in out, by reading its few small files and running nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HASH: Final = re.compile(r"[0-9a-f]{40}")
_NAME: Final = re.compile(r"refs/[^\x00-\x20\x7f~^:?*\[\\]+")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout: the folder with its objects, its commit, and the way from its top to our folder."""

    common: Path
    head: str
    prefix: str


def find_checkout(folder: Path) -> Checkout | None:
    """The checkout around a folder, None where there is none or it has no commit that can be told."""
    for top in (folder, *folder.parents):
        marker = top / ".git"
        try:
            if not marker.exists():
                continue
            own = (
                marker if marker.is_dir() else (top / _line(marker).removeprefix("gitdir:").strip()).resolve()
            )
            shared = own / "commondir"
            common = (own / _line(shared)).resolve() if shared.is_file() else own
            head = _commit(_line(own / "HEAD"), own, common)
        except (OSError, ValueError):
            return None
        prefix = folder.relative_to(top).as_posix()
        return Checkout(common, head, "" if prefix == "." else prefix) if head else None
    return None


def _line(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline(4096).strip()


def _commit(said: str, own: Path, common: Path, depth: int = 0) -> str:
    """The commit that `HEAD` or another name stands for, empty where that cannot be told."""
    if _HASH.fullmatch(said):
        return said
    name = said.removeprefix("ref:").strip()
    if depth > 4 or not _NAME.fullmatch(name) or ".." in name:
        return ""
    for folder in (own, common):
        if (folder / name).is_file():
            return _commit(_line(folder / name), own, common, depth + 1)
    packed = common / "packed-refs"
    for line in packed.read_text(encoding="utf-8").splitlines() if packed.is_file() else ():
        commit, _, found = line.partition(" ")
        if found == name and _HASH.fullmatch(commit):
            return commit
    return ""
