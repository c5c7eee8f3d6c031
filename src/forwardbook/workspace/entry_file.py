"""A database file as `render` writes it in; where each of its entries stands out, so that none need be kept.

The file is read once, row by row, and every row is checked for being JSON. What has any other shape is left
to those who read all of it at once.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from forwardbook.workspace.heads import Family
from forwardbook.workspace.storage import WorkspaceError

_HEAD: Final = b'{\n "entries": {\n'
_ROW: Final = b'\n  "'
_FOOT: Final = b"\n },\n"
_STEP: Final = 1 << 20
"""Bytes that are read at once."""


class Foot(msgspec.Struct, forbid_unknown_fields=True):
    """What stands in a file after its entries."""

    schema_version: int
    rules_version: str = ""
    families: dict[str, Family] = {}


class FileTexts(Mapping[str, bytes]):
    """The texts of entries by key, each read from the file when it is asked for.

    The file is held open: whoever replaces it by a new one does not change what is read here.
    """

    def __init__(self, path: Path, descriptor: int, places: Mapping[str, tuple[int, int]]) -> None:
        self._path = path
        self._descriptor = descriptor
        self._places = places
        self._marks = _marks(descriptor)
        weakref.finalize(self, os.close, descriptor)

    def __getitem__(self, key: str) -> bytes:
        start, length = self._places[key]
        try:
            text = os.pread(self._descriptor, length, start)
            changed = _marks(self._descriptor) != self._marks
        except OSError as error:
            raise WorkspaceError(f"reading {self._path}: {error.strerror or error}") from error
        if changed:
            raise WorkspaceError(
                f"reading {self._path}: something else wrote into the file while it was read; run again"
            )
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places


def file_texts(path: Path, versions: Collection[int]) -> tuple[FileTexts, Foot] | None:
    """The texts and the foot of a file of one of these schema versions; None for any other shape."""
    try:
        with path.open("rb") as file:
            places: dict[str, tuple[int, int]] = {}
            foot = _read(file, places)
            if foot is None or foot.schema_version not in versions:
                return None
            return FileTexts(path, os.dup(file.fileno()), places), foot
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _read(file: BinaryIO, places: dict[str, tuple[int, int]]) -> Foot | None:
    """Put the place of every entry into `places`; what stands after them, None where something is amiss."""
    if file.read(len(_HEAD)) != _HEAD:
        return None
    start = len(_HEAD)
    for row, is_last in _rows(file):
        end = row.find(_FOOT) if is_last else len(row)
        text = row[:end] if is_last else row[:-1]
        if end < 0 or (not is_last and row[-1:] != b",") or not _place(text, start, places):
            return None
        if is_last:
            return msgspec.json.decode(b"{" + row[end + len(_FOOT) :], type=Foot)
        start += len(row) + 1
    return None


def _rows(file: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """What stands between the line ends before keys; whether it is the last, which holds the foot too."""
    waiting = b""
    while step := file.read(_STEP):
        looked = max(0, len(waiting) - len(_ROW))
        waiting += step
        begin = 0
        while (end := waiting.find(_ROW, max(begin, looked))) >= 0:
            yield waiting[begin:end], False
            begin = end + 1
        waiting = waiting[begin:]
    yield waiting, True


def _place(text: bytes, start: int, places: dict[str, tuple[int, int]]) -> bool:
    """Take down where the one entry of a row stands; whether the row is that and nothing else."""
    if not text.isascii():
        text.decode()  # strings that are passed over are not looked into
    found = msgspec.json.decode(b"{" + text + b"}", type=dict[str, msgspec.Raw])
    for key, raw in found.items():
        value = bytes(raw)
        places[key] = (start + len(text) - len(value), len(value))
        return len(found) == 1 and value.startswith(b"{") and text.endswith(value)
    return False


def _marks(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns
