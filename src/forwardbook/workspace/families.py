"""The entries of a big database in; out those of one family of a library in a file of their own.

`module_db.json` keeps the entries of torch.nn and of the user's own code, and says of each other one in which
file of `module_db/` it is and how it is called: to look an entry up, one small file is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from forwardbook.workspace.heads import Family, Head
from forwardbook.workspace.storage import WorkspaceError, resolved

SPLIT_BYTES: Final = 4_000_000
"""A file of this size is still read, and its changes looked through; one ten times as long is not."""
OPENED: Final = 8  # families whose places are kept for whoever asks for their next entry
_NAME: Final = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
_LONGEST: Final = 120  # characters of a name; file systems take 255 bytes
_IN_MAIN: Final = ("torch",)

Texts = Mapping[str, bytes | msgspec.Raw]


def family_of(full_class_name: str, library: str, is_own: bool) -> str:
    """The family of a class: the folder of its module, or its module near the top; empty: it has none.

    What is the user's own code (`is_own`), and torch itself, stays in the main file.
    """
    module = full_class_name.rpartition(".")[0].lower()
    parts = module.split(".")
    name = ".".join(parts[:-1]) if len(parts) > 3 else module
    plain = _NAME.fullmatch(name) is not None and len(name) <= _LONGEST
    return name if plain and library not in _IN_MAIN and not is_own else ""


def families_folder(main: Path) -> Path:
    """Where the files of a database are: `module_db` beside `module_db.json`."""
    return resolved(main).with_suffix("")


def family_path(main: Path, name: str) -> Path:
    """The file of a family.

    Raises:
        WorkspaceError: for a name that no family has; a damaged index could lead anywhere.
    """
    if _NAME.fullmatch(name) is None:
        raise WorkspaceError(f"reading {main}: {name!r} is no name of a family of classes; restore the file")
    return families_folder(main) / f"{name}.json"


def sizes(main: Path) -> dict[str, int]:
    """The families that are there, by name, each with its bytes."""
    try:
        with os.scandir(families_folder(main)) as found:
            return {
                one.name.removesuffix(".json"): one.stat().st_size
                for one in found
                if one.name.endswith(".json") and _NAME.fullmatch(one.name.removesuffix(".json"))
            }
    except OSError:
        return {}


class FamilyTexts(Mapping[str, "bytes | msgspec.Raw"]):
    """The texts of all entries: those of the main file, and of each family, whose file is then opened."""

    def __init__(
        self,
        main: Texts,
        index: Mapping[str, Family],
        opened: Callable[[str], Texts],
    ) -> None:
        self.main, self.index = main, index
        self._opened = opened
        self._families = {key: name for name, family in index.items() for key in family.entries}
        self._recent: dict[str, Texts] = {}

    def __getitem__(self, key: str) -> bytes | msgspec.Raw:
        name = self._families.get(key)
        if name is None:
            return self.main[key]
        try:
            return self.family(name)[key]
        except KeyError:
            raise WorkspaceError(
                f"reading the entry {key}: the file of {name} does not hold it, though the index says so; "
                "if another process wrote it just now run again, else restore both from version control"
            ) from None

    def __iter__(self) -> Iterator[str]:
        yield from self.main
        yield from self._families

    def __len__(self) -> int:
        return len(self.main) + len(self._families)

    def __contains__(self, key: object) -> bool:
        return key in self._families or key in self.main

    def head(self, key: str) -> Head | None:
        """What the index says of an entry; None for those of the main file."""
        name = self._families.get(key)
        return None if name is None else self.index[name].entries[key]

    def family(self, name: str) -> Texts:
        """The texts of one family."""
        if name not in self._recent:
            if len(self._recent) >= OPENED:
                self._recent.pop(next(iter(self._recent)))
            self._recent[name] = self._opened(name)
        return self._recent[name]
