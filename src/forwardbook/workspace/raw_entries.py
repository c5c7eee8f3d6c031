"""A database file in; its entries by key out, each decoded when it is asked for.

The whole file is checked for being JSON, which takes a tenth of the time of building its values. Where it has
the form in which we write it, the entries stay on the disk; else their text is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, cast

import msgspec

from forwardbook.workspace.entry_file import file_texts
from forwardbook.workspace.migrations import Json

INDENT: Final = 2  # how deep an entry stands in the file, one blank for each level
KEPT: Final = 32
"""Decoded entries that are kept for whoever asks for the same again."""


class Head(msgspec.Struct):
    """What is asked of many entries at once; anything else in them is passed over."""

    full_class_name: str = ""
    library: str = ""
    same_as: str | None = None
    generated_file_name: str = ""
    generated_class_name: str = ""


class _File(msgspec.Struct):
    schema_version: int
    entries: dict[str, msgspec.Raw]
    rules_version: str = ""


class RawEntries(Mapping[str, Json]):
    """Entries as text, decoded one by one; the last few stay decoded."""

    def __init__(self, texts: Mapping[str, bytes | msgspec.Raw]) -> None:
        self._texts = texts
        self._decoded: dict[str, Json] = {}

    def __getitem__(self, key: str) -> Json:
        found = self._decoded.get(key)
        if found is None:
            found = cast(Json, json.loads(bytes(self._texts[key])))
            if len(self._decoded) >= KEPT:
                self._decoded.pop(next(iter(self._decoded)), None)
            self._decoded[key] = found
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def head(self, key: str) -> Head:
        """The head of an entry, without building the rest of it."""
        try:
            return msgspec.json.decode(self._texts[key], type=Head)
        except msgspec.ValidationError:  # a damaged entry: whoever asks for the whole is told
            return head_of(self[key])

    def rendered(self, key: str) -> str | None:
        """The text of an entry as it stands in a file that was written by `render`; None for any other."""
        text = bytes(self._texts[key])
        whole = text.startswith(b'{\n   "') and text.endswith(b"\n  }")
        return text.decode() if whole else None


def raw_entries_in(path: Path, version: int) -> tuple[RawEntries, str] | None:
    """The entries and rules version of a file of that schema version; None for what has another shape."""
    found = file_texts(path, version)
    if found is not None:
        texts, rules = found
        return RawEntries(texts), rules
    try:
        return raw_entries(path.read_bytes(), version)
    except OSError:
        return None


def raw_entries(content: bytes, version: int) -> tuple[RawEntries, str] | None:
    """The same from the bytes of a file."""
    try:
        if not content.isascii():
            content.decode()  # strings that are passed over are not looked into
        found = msgspec.json.decode(content, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # also a value of another type
        return None
    objects = all(bytes(memoryview(raw)[:1]) == b"{" for raw in found.entries.values())
    if found.schema_version != version or not objects:
        return None
    return RawEntries(found.entries), found.rules_version


def head_of(raw: Json) -> Head:
    """The head of a decoded entry; what is no text in it counts as empty."""
    target = raw.get("same_as")
    return Head(
        full_class_name=_text(raw.get("full_class_name")),
        library=_text(raw.get("library")),
        same_as=target if isinstance(target, str) else None,
        generated_file_name=_text(raw.get("generated_file_name")),
        generated_class_name=_text(raw.get("generated_class_name")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def indented(value: object) -> str:
    """A value as it stands in the file: sorted, one value per line, at the depth of an entry."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
    return text.replace("\n", "\n" + " " * INDENT)
