"""Values in, one at a time; a file of JSON lines that is whole after each, and can be gone on with, out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from forwardbook.workspace.storage import WorkspaceError, write_atomically

if TYPE_CHECKING:
    from pydantic import JsonValue

Line = Mapping[str, "JsonValue"]


def read_lines(path: Path) -> list[Line]:
    """The lines of a file; what a writer that was killed left of a last one is no line.

    Raises:
        WorkspaceError: for a line within that is no JSON object.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[list[Line], int]:
    """The lines, and how many bytes they are."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise WorkspaceError(f"reading {path}: {error.strerror or error}") from None
    whole = data.rfind(b"\n") + 1
    found: list[Line] = []
    for number, line in enumerate(data[:whole].splitlines(), 1):
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise WorkspaceError(
                f"reading {path}, line {number}: no JSON object; mend or remove the line, then go on"
            )
        found.append(cast("Line", value))
    return found, whole


class LineWriter:
    """Appends lines; each is on the disk before the next is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known, whole = _read(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > whole:
            write_atomically(path, path.read_bytes()[:whole])
        try:
            self._file: BinaryIO = path.open("ab")
        except OSError as error:
            raise WorkspaceError(f"writing {path}: {error.strerror or error}") from None

    def write(self, value: Line) -> None:
        """One more line.

        Raises:
            WorkspaceError: where the disk does not take it; a part of it is dropped when the file is read.
        """
        try:
            self._file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise WorkspaceError(f"writing {self.path}: {error.strerror or error}") from None

    def close(self) -> None:
        """No more lines."""
        self._file.close()
