"""A workspace is a folder with a module_db.json: a place on disk in, its database out, and changes back."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from forwardbook.schema import Entry
from forwardbook.workspace.database import Database, load_entries, rendered
from forwardbook.workspace.migrations import Json
from forwardbook.workspace.raw_entries import RawEntries, indented
from forwardbook.workspace.storage import locked, write_atomically

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
        """Put entries into the file as it is by now and take others out; what other processes wrote stays."""
        changed = {key: indented(entry.model_dump(mode="json")) for key, entry in entries.items()}
        with locked(self.database_path):
            present, rules = _read(self.database_path)
            texts = {key: _text(present, key) for key in present if key not in changed} | changed
            kept = {key: text for key, text in texts.items() if key not in remove}
            text = rendered(kept, rules if rules_version is None else rules_version)
            write_atomically(self.database_path, text)


def shipped_path() -> Path | None:
    """The database that came with the installation."""
    path = Path(str(files("forwardbook") / DATABASE_NAME))
    return path if path.is_file() else None


def _text(entries: Mapping[str, Json], key: str) -> str:
    """An entry as it stands in the file; what somebody wrote in another form is written in ours."""
    text = entries.rendered(key) if isinstance(entries, RawEntries) else None
    return indented(entries[key]) if text is None else text


def _read(path: Path) -> tuple[Mapping[str, Json], str]:
    return load_entries(path) if path.exists() else ({}, "")
