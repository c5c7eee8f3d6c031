"""A workspace is a folder with a module_db.json: a place on disk in, its database out, and changes back."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from forwardbook.schema import Entry
from forwardbook.workspace.database import Database
from forwardbook.workspace.database_file import load_entries
from forwardbook.workspace.migrations import Json
from forwardbook.workspace.saving import new_texts
from forwardbook.workspace.several_files import drop_staged, finish, replace_together
from forwardbook.workspace.storage import locked, resolved, write_atomically

DATABASE_NAME: Final = "module_db.json"
GENERATED_NAME: Final = "generated_modules"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder that `root` names; its database file need not exist yet."""

    root: Path

    @classmethod
    def find(cls, start: Path | None = None) -> Workspace:
        """The nearest folder upward that holds a module_db.json, else the starting folder itself."""
        start = (start or Path.cwd()).resolve()
        for folder in (start, *start.parents):
            if (folder / DATABASE_NAME).is_file():
                return cls(folder)
        return cls(start)

    @property
    def database_path(self) -> Path:
        """The workspace's own module_db.json."""
        return self.root / DATABASE_NAME

    @property
    def generated_folder(self) -> Path:
        """Where the workspace's calculators are written."""
        return self.root / GENERATED_NAME

    def load(self) -> Database:
        """The workspace's own entries, with the shipped ones beneath."""
        own, rules = _read(self.database_path)
        shipped = shipped_path()
        if shipped is None or (self.database_path.exists() and os.path.samefile(shipped, self.database_path)):
            return Database(own, None, rules)
        return Database(own, _read(shipped)[0], rules)

    def save(
        self,
        entries: Mapping[str, Entry],
        *,
        remove: Collection[str] = (),
        rules_version: str | None = None,
    ) -> None:
        """Put entries into the files as they are by now and take others out, all of it or nothing.

        What other processes wrote stays. A database that grew big is split into families.
        """
        main = resolved(self.database_path)
        with locked(main):
            finish(main)
            drop_staged(main)
            present, rules = _read(main)
            known = rules if rules_version is None else rules_version
            files = new_texts(main, present, entries, remove, known)
            if list(files) == [main]:
                write_atomically(main, files[main] or "")
            else:
                replace_together(main, files)


def shipped_path() -> Path | None:
    """The database that came with the installation."""
    path = Path(str(files("forwardbook") / DATABASE_NAME))
    return path if path.is_file() else None


def _read(path: Path) -> tuple[Mapping[str, Json], str]:
    return load_entries(path) if path.exists() or path.is_symlink() else ({}, "")
