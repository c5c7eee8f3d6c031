"""Calculators on disk: an entry and a folder in, its file written or compared out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from forwardbook.generate.checksum import EditedFileError, is_unedited
from forwardbook.generate.rendering import render
from forwardbook.schema import Entry
from forwardbook.workspace import WorkspaceError, write_atomically


def write(entry: Entry, folder: Path, *, force: bool = False) -> bool:
    """Write the entry's calculator into the folder; whether the file changed. An edited file is refused."""
    path = folder / entry.generated_file_name
    text = render(entry)
    if path.exists():
        present = present_text(path)
        if present == text:
            return False
        if not force and not is_unedited(present):
            raise EditedFileError(
                f"generating {path}: it was edited by hand (its checksum differs) and was left as it is. "
                "Move the edit elsewhere, or overwrite it with --force"
            )
    write_atomically(path, text)
    return True


def present_text(path: Path) -> str:
    """The text of a file in a folder of calculators; what is no text in it is shown as such, never equal.

    Raises:
        WorkspaceError: where it cannot be read.
    """
    try:
        return path.read_bytes().decode("utf-8", "backslashreplace") if path.is_file() else ""
    except OSError as error:
        raise WorkspaceError(f"reading {path}: {error.strerror or error}") from error


def remove(path: Path) -> bool:
    """Remove a calculator that is not needed any more, if nobody edited it; whether it is gone."""
    try:
        if not is_unedited(path.read_text(encoding="utf-8")):
            return False
        path.unlink()
    except (OSError, UnicodeDecodeError):
        return False
    return True


def would_change(entry: Entry, folder: Path) -> bool:
    """Whether the file on disk is not what the entry renders to."""
    path = folder / entry.generated_file_name
    return not path.exists() or present_text(path) != render(entry)


def outdated(entries: Iterable[Entry], folder: Path) -> list[Path]:
    """The files that are missing, edited or older than their entry; entries without formulas have none."""
    return [
        folder / entry.generated_file_name
        for entry in entries
        if entry.regimes and would_change(entry, folder)
    ]
