"""Entries on disk: a folder with one JSON file per family of classes in, each entry when asked for out.

Each entry is one line of the file of its family. An index says which file has which key, so that looking one
up reads that file alone; it follows from the files, and is made again where it does not fit them.
"""

from __future__ import annotations

import json
import os
import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec
from pydantic import ValidationError

from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.record import Entry
from forwardbook.stored_names import is_key
from forwardbook.workspace.database import DatabaseError, misshapen
from forwardbook.workspace.folder import Workspace
from forwardbook.workspace.storage import locked, write_atomically

FOLDER: Final = Path("module_db", "composed")
"""Where the entries of a workspace are."""
INDEX: Final = "key-index.json"  # no family has a hyphen
LARGEST: Final = 200_000_000
"""Bytes of a file of a family; thousands of times what the largest has."""
_NAME: Final = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)?")
_LONGEST: Final = 60  # characters of each part of a name
_KEPT: Final = 4096  # entries and lines of families that stay in memory
_RESTORE: Final = "restore it from version control, or build it again"

Lines = dict[str, bytes]


class _Family(msgspec.Struct):
    """What the index says of a file: how long it is, and the full class name of each entry by key."""

    bytes: int
    entries: dict[str, str]


class _Head(msgspec.Struct):
    full_class_name: str


def family_of(entry: Entry) -> str:
    """The library and the first package below it, or below its models: `transformers.llama`, `torch.nn`."""
    parts = entry.full_class_name.split(".")[:-1]
    below = parts[1:] if parts[0] == entry.library else parts
    below = below[1:] if below[:1] == ["models"] else below
    return ".".join(re.sub(r"[^a-z0-9_]", "_", one.lower())[:_LONGEST] for one in (entry.library, *below[:1]))


class _Way(msgspec.Struct):
    name: str
    signature: str


class Listed(msgspec.Struct):
    """What a list says of an entry; the rest of it is passed over."""

    full_class_name: str
    library: str
    file: str
    line_start: int
    verdict: str = "unproved"
    regimes: list[_Way] = []
    unresolved: list[msgspec.Raw] = []
    same_as: str | None = None


class EntryStore(Mapping[str, Entry]):
    """The entries in a folder by key, each checked when it is asked for; an absent folder has none.

    Raises:
        DatabaseError: a file is damaged, or an entry is not what the record says.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lines: dict[str, Lines] = {}
        self._entries: dict[str, Entry] = {}
        self._look()

    def _look(self) -> None:
        """Which entries there are by now; none is read yet."""
        self._families = self._index()
        self._places = _places(self._families)
        self._lines.clear()
        self._entries.clear()

    def __getitem__(self, key: str) -> Entry:
        if key not in self._entries:
            line = self._line(key)
            if len(self._entries) >= _KEPT:
                self._entries.clear()
            self._entries[key] = _entry(key, line)
        return self._entries[key]

    def listed(self, key: str) -> Listed:
        """What a list says of an entry, without validating the rest of it.

        Raises:
            DatabaseError: where it is not what the record says.
        """
        line = self._line(key)
        try:
            return msgspec.json.decode(line, type=Listed)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise DatabaseError(f"reading the entry {key}: {error}; {_RESTORE}") from error

    def _line(self, key: str) -> bytes:
        family = self._places[key]
        if family not in self._lines:
            self._lines[family] = self._read(family)
        try:
            return self._lines[family][key]
        except KeyError:
            what = f"{family}.json does not hold it, though the index says so"
            raise DatabaseError(f"reading the entry {key}: {what}; run again, or {_RESTORE}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._places))

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    @property
    def names(self) -> dict[str, str]:
        """The full class name of each entry by key; no entry is read for it."""
        return {key: full for one in self._families.values() for key, full in one.entries.items()}

    @property
    def bytes_on_disk(self) -> int:
        """How long the files of the families and the index are together."""
        try:
            index = (self.folder / INDEX).stat().st_size
        except OSError:
            index = 0
        return index + sum(_sizes(self.folder).values())

    def save(self, entries: Mapping[str, Entry], *, remove: Collection[str] = ()) -> None:
        """Puts entries into the files as they are by now and takes others out; each file is old or new.

        Raises:
            DatabaseError: an entry or a key is not what the record says; then nothing was written.
            WorkspaceError: a file cannot be written.
        """
        put: dict[str, Lines] = {}
        for key, entry in entries.items():
            put.setdefault(family_of(entry), {})[key] = _line(key, entry)
        with locked(self.folder / INDEX):
            families, away = self._index(), {*entries, *remove}
            old = {name for name, one in families.items() if not away.isdisjoint(one.entries)}
            for name in sorted(old | put.keys()):
                kept = {key: line for key, line in self._read(name, missing=True).items() if key not in away}
                self._write(name, kept | put.get(name, {}), families)
            if families:
                write_atomically(self.folder / INDEX, _index_text(families))
            else:
                (self.folder / INDEX).unlink(missing_ok=True)
        self._look()

    def _write(self, name: str, lines: Lines, families: dict[str, _Family]) -> None:
        path = self.folder / f"{name}.json"
        if not lines:
            path.unlink(missing_ok=True)
            families.pop(name, None)
            return
        rows = b",\n".join(b"%s:%s" % (_text(key).encode(), lines[key]) for key in sorted(lines))
        content = b"{\n" + rows + b"\n}\n"
        write_atomically(path, content)
        families[name] = _Family(len(content), _heads(name, lines))

    def _read(self, name: str, missing: bool = False) -> Lines:
        """The lines of a family by key, not decoded."""
        path = self.folder / f"{name}.json"
        try:
            if path.stat().st_size > LARGEST or not path.is_file():
                raise DatabaseError(f"reading {path}: it is no file of {LARGEST:,} bytes at most; {_RESTORE}")
            return _parted(path, path.read_bytes())
        except FileNotFoundError as error:
            if missing:
                return {}
            raise DatabaseError(f"reading {path}: it is gone; run again, or {_RESTORE}") from error
        except OSError as error:
            raise DatabaseError(f"reading {path}: {error.strerror or error}") from error

    def _index(self) -> dict[str, _Family]:
        """The families that are there; the index is believed of those whose files are as long as it says."""
        try:
            known = msgspec.json.decode((self.folder / INDEX).read_bytes(), type=dict[str, _Family])
        except (OSError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            known = {}
        found: dict[str, _Family] = {}
        for name, size in sorted(_sizes(self.folder).items()):
            family = known.get(name)
            fits = family is not None and family.bytes == size and all(map(is_key, family.entries))
            found[name] = family if family and fits else _Family(size, _heads(name, self._read(name)))
        return found


def entry_stores(workspace: Workspace) -> list[EntryStore]:
    """The entries of a workspace, and after them those that came with the installation."""
    folders = dict.fromkeys((workspace.root / FOLDER, Path(str(files("forwardbook"))) / FOLDER))
    return [EntryStore(folder) for folder in folders]


def cost_model(workspace: Workspace) -> CostModel:
    """The costs of the classes of a workspace, and of those that came with the installation."""
    return model_of(entry_stores(workspace))


def model_of(stores: Sequence[EntryStore]) -> CostModel:
    """The costs of the classes of these stores; where two have a key it is the first one's."""
    return CostModel(ChainMap(*stores), ChainMap(*(one.names for one in stores)))  # type: ignore[arg-type]


def _sizes(folder: Path) -> dict[str, int]:
    try:
        with os.scandir(folder) as found:
            named = [(one.name.removesuffix(".json"), one) for one in found if one.name.endswith(".json")]
            return {
                name: one.stat().st_size for name, one in named if _NAME.fullmatch(name) and one.is_file()
            }
    except OSError:
        return {}


def _places(families: Mapping[str, _Family]) -> dict[str, str]:
    """The family of each key.

    Raises:
        DatabaseError: two have the same.
    """
    found: dict[str, str] = {}
    for name, family in families.items():
        for key in family.entries:
            if found.setdefault(key, name) != name:
                raise DatabaseError(
                    f"reading the entry {key}: {found[key]}.json and {name}.json both hold it"
                )
    return found


def _parted(path: Path, content: bytes) -> Lines:
    """The entries of a file in the form in which we write it, a line each."""
    rows = content.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    if rows[0] != b"{" or rows[-1] != b"}":
        raise DatabaseError(f"reading {path}: it is cut off or in another form; {_RESTORE}")
    found: Lines = {}
    for number, row in enumerate(rows[1:-1], 2):
        key, colon, line = row[1:].partition(b'":')
        name = key.decode("utf-8", "replace")
        if not (row[:1] == b'"' and colon and line[:1] == b"{" and is_key(name)) or name in found:
            what = "the key of another entry" if name in found else "no entry"
            raise DatabaseError(f"reading {path}: line {number} is {what}; {_RESTORE}")
        found[name] = line.removesuffix(b",")
    return found


def _heads(name: str, lines: Lines) -> dict[str, str]:
    try:
        return {key: msgspec.json.decode(line, type=_Head).full_class_name for key, line in lines.items()}
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise DatabaseError(
            f"reading {name}.json: an entry has no class name ({error}); {_RESTORE}"
        ) from error


def _entry(key: str, line: bytes) -> Entry:
    try:
        return Entry.model_validate_json(line)
    except ValidationError as error:
        raise misshapen(f"the entry {key} is not what the record says", error) from error


def _line(key: str, entry: Entry) -> bytes:
    """The JSON of an entry on one line, what is as by default left out; it is read back before it is kept."""
    if not is_key(key):
        raise DatabaseError(f"writing the entry {key[:80]!r}: this is no key")
    line = _text(entry.model_dump(mode="json", exclude_defaults=True)).encode("utf-8", "surrogatepass")
    if _entry(key, line) != entry:
        raise DatabaseError(f"writing the entry {key}: it is read back as another")
    return line


def _index_text(families: Mapping[str, _Family]) -> str:
    """The index, a line for each entry."""
    parts = []
    for name, one in sorted(families.items()):
        rows = ",\n".join(f"  {_text(key)}:{_text(one.entries[key])}" for key in sorted(one.entries))
        parts.append(f'{_text(name)}:{{"bytes":{one.bytes},"entries":{{\n{rows}}}}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _text(value: Iterable[object]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
