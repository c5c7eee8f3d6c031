"""A database file in; its entries by key out, each decoded when it is asked for.

The whole file is checked for being JSON, which takes a tenth of the time of building its values. Where it has
the form in which we write it, the entries stay on the disk; else their text is kept.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import msgspec

from forwardbook.workspace.entry_file import Foot, file_texts
from forwardbook.workspace.families import FamilyTexts
from forwardbook.workspace.heads import Family, Head, Issued, Listed, Origin, head_of
from forwardbook.workspace.layout import WIDTH
from forwardbook.workspace.migrations import Json
from forwardbook.workspace.packing import unpacked

INDENT: Final = 2  # how deep an entry stands in the file, one blank for each level
KEPT: Final = 32
"""Decoded entries that are kept for whoever asks for the same again."""
READ: Final = (1, 2)
"""Versions of the schema whose entries are decoded one by one; in the first they were not packed."""

Texts = Mapping[str, bytes | msgspec.Raw]


class _File(msgspec.Struct):
    schema_version: int
    entries: dict[str, msgspec.Raw]
    rules_version: str = ""
    families: dict[str, Family] = {}


@dataclass(frozen=True, slots=True)
class FileContent:
    """One file: the texts of its entries, the version in which they are, the rules, the index of others."""

    texts: Texts
    version: int
    rules: str = ""
    families: Mapping[str, Family] | None = None


class RawEntries(Mapping[str, Json]):
    """Entries as text, decoded one by one; the last few stay decoded."""

    def __init__(self, texts: Texts, version: int) -> None:
        self.texts, self.version = texts, version
        self._decoded: dict[str, Json] = {}

    def __getitem__(self, key: str) -> Json:
        found = self._decoded.get(key)
        if found is None:
            text = bytes(self.texts[key])
            found = cast(Json, json.loads(text))
            check_text(text, found)
            if self.version > 1:
                found = unpacked(found)
            if len(self._decoded) >= KEPT:
                self._decoded.pop(next(iter(self._decoded)), None)
            self._decoded[key] = found
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def __contains__(self, key: object) -> bool:
        return key in self.texts

    def head(self, key: str) -> Head:
        """The head of an entry, without building the rest of it."""
        if isinstance(self.texts, FamilyTexts) and (indexed := self.texts.head(key)) is not None:
            return indexed
        found = head_in(self.texts[key])
        if found is not None:
            return found
        try:
            return head_of(self[key])
        except (ValueError, RecursionError):  # whoever asks for the whole is told
            return Head()

    def origin(self, key: str) -> Origin | None:
        """What an entry was derived from; None where it must be decoded to be had."""
        try:
            return msgspec.json.decode(self.texts[key], type=Origin)
        except (msgspec.ValidationError, msgspec.DecodeError):
            return None

    def listed(self, key: str) -> Listed | None:
        """What a list says of an entry; None where it must be decoded to be had."""
        try:
            return msgspec.json.decode(self.texts[key], type=Listed)
        except (msgspec.ValidationError, msgspec.DecodeError):
            return None

    def operations(self, key: str) -> frozenset[str] | None:
        """The operations that an entry lists; None where it must be decoded to be had."""
        if self.version == 1:
            return None
        try:
            return msgspec.json.decode(self.texts[key], type=Issued).operations
        except (msgspec.ValidationError, msgspec.DecodeError):
            return None

    def rendered(self, key: str) -> str | None:
        """The text of an entry as it stands in a file that we wrote in this version; None for any other."""
        text = bytes(self.texts[key])
        laid = text.startswith(b'{\n   "') and text.endswith(b"\n  }")
        short = b"\n" not in text and len(text) + INDENT <= WIDTH
        return text.decode() if self.version > 1 and (laid or short) else None


def check_text(text: bytes, found: object) -> None:
    """Refuse half a surrogate pair, which JSON can spell and no file can hold.

    Raises:
        ValueError: where there is one.
    """
    if b"\\ud" in text or b"\\uD" in text:
        json.dumps(found, ensure_ascii=False).encode()


def head_in(text: bytes | msgspec.Raw) -> Head | None:
    """The head in the text of an entry; None where it must be decoded to be had."""
    try:
        found = msgspec.json.decode(text, type=Head)
    except msgspec.ValidationError:  # a damaged entry: whoever asks for the whole is told
        return None
    return found if found.full_class_name else None


def content_in(path: Path) -> FileContent | None:
    """The content of a file of a version that is READ; None for what has another shape."""
    found = file_texts(path, READ)
    if found is not None:
        return _content(found[0], found[1])
    try:
        return content_of(path.read_bytes())
    except OSError:
        return None


def content_of(content: bytes) -> FileContent | None:
    """The same from the bytes of a file."""
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        if not content.isascii():
            content.decode()  # strings that are passed over are not looked into
        found = msgspec.json.decode(content, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # also a value of another type
        return None
    objects = all(bytes(memoryview(raw)[:1]) == b"{" for raw in found.entries.values())
    return _content(found.entries, found) if found.schema_version in READ and objects else None


def _content(texts: Texts, foot: Foot | _File) -> FileContent:
    return FileContent(texts, foot.schema_version, foot.rules_version, foot.families)
