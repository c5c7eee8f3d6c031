"""Results of units kept while a build goes on: each whole in a file of its own, until all are stored."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from forwardbook.pipeline.catalogue.record import UnitResult
from forwardbook.workspace import Workspace, write_atomically
from forwardbook.workspace.storage import alone

FOLDER: Final = Path(".forwardbook") / "catalogue"


class Journal:
    """The results of one library's units; what cannot be read is as good as not there."""

    def __init__(self, workspace: Workspace, library: str) -> None:
        self.folder = workspace.root / FOLDER / library

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Inside, no other process builds this library's catalogue here.

        Raises:
            WorkspaceError: where one does.
        """
        self._prepare()
        library = self.folder.name
        with alone(self.folder.with_name(f"{library}.lock"), f"building the catalogue of {library}"):
            yield

    def _prepare(self) -> None:
        """The folder, which git is told to leave alone."""
        self.folder.mkdir(parents=True, exist_ok=True)
        ignore = self.folder.parent.parent / ".gitignore"
        if not ignore.exists():
            write_atomically(ignore, "*\n")

    def keep(self, result: UnitResult) -> None:
        """Put a result down."""
        self._prepare()
        write_atomically(self._path(result.unit), result.model_dump_json(exclude_defaults=True))

    def get(self, unit: str, stamp: str) -> UnitResult | None:
        """The result of a unit in that state of its sources."""
        found = _read(self._path(unit))
        return found if found is not None and found.unit == unit and found.record.stamp == stamp else None

    def all(self) -> Iterator[UnitResult]:
        """Every result, by name of its file."""
        for path in sorted(self.folder.glob("*.json")):
            if (found := _read(path)) is not None:
                yield found

    def clear(self, units: Iterable[str]) -> None:
        """Take these away: they are in the database. Others, of a build that was interrupted, stay."""
        for unit in units:
            self._path(unit).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # others are there
            self.folder.rmdir()

    def _path(self, unit: str) -> Path:
        """A file for the unit: its name where that is a plain word, and a hash that no other has."""
        digest = hashlib.sha256(unit.encode()).hexdigest()[:8]
        return self.folder / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', unit)[-100:]}-{digest}.json"


def _read(path: Path) -> UnitResult | None:
    try:
        return UnitResult.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
