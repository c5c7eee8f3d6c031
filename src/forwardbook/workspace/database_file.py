"""A database file and those of its families in, entries by key out; entries in, the text of a file out."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, cast

from forwardbook.schema import SCHEMA_VERSION
from forwardbook.workspace.database import Database, DatabaseError
from forwardbook.workspace.families import FamilyTexts, family_path, sizes
from forwardbook.workspace.heads import Family, Head, head_of
from forwardbook.workspace.layout import dumped, laid_out
from forwardbook.workspace.migrations import Json, migrated
from forwardbook.workspace.packing import packed, unpacked
from forwardbook.workspace.raw_entries import (
    INDENT,
    FileContent,
    RawEntries,
    Texts,
    check_text,
    content_in,
    content_of,
    head_in,
)
from forwardbook.workspace.revision import file_at
from forwardbook.workspace.several_files import finish, is_unfinished
from forwardbook.workspace.storage import locked, resolved

_TRIES: Final = 5  # readings of files that another process replaces meanwhile


def load_entries(path: Path) -> tuple[Mapping[str, Json], str]:
    """The raw entries and the rules version of a database, those of its families when they are asked for.

    Raises:
        DatabaseError: for a file that is damaged, of a newer version, or cannot be read.
    """
    check_regular(path)
    for _ in range(_TRIES):
        if is_unfinished(path):
            with locked(path):
                finish(path)
        before = _marks(path)
        found = _loaded(path)
        if _marks(path) == before and not is_unfinished(path):
            return found
    return found


def read_entries(
    text: str, origin: str, family: Callable[[str], str | None] = lambda name: None
) -> tuple[Mapping[str, Json], str]:
    """The same from the text of a file; `family` gives those of the others, None for one that is missing."""

    def opened(name: str) -> Texts:
        found = family(name)
        if found is None:
            raise DatabaseError(_damaged(origin, f"the file of its family {name} is missing"))
        return _texts(content_of(found.encode("utf-8", "surrogatepass")), found, f"{name} of {origin}")

    content = content_of(text.encode("utf-8", "surrogatepass"))
    return _read_whole(text, origin) if content is None else _entries(content, opened)


def database_in(path: Path) -> Database:
    """The database of a file alone, nothing beneath."""
    entries, rules = load_entries(path)
    return Database(entries, None, rules)


def database_at(root: Path, commit: str, name: str) -> Database | None:
    """The database of a folder as a commit has it, nothing beneath; None where it has none.

    Raises:
        DatabaseError: where it is damaged.
    """
    text = file_at(root, commit, name)
    if text is None:
        return None
    folder = Path(name).stem
    entries, rules = read_entries(
        text, f"{name} of {commit[:12]}", lambda family: file_at(root, commit, f"{folder}/{family}.json")
    )
    return Database(entries, None, rules)


def family_texts(main: Path, name: str) -> Texts:
    """The texts of the entries of one family, as its file has them.

    Raises:
        DatabaseError: for a file that is damaged or missing.
    """
    path = family_path(main, name)
    check_regular(path)
    content = content_in(path)
    return _texts(content, None if content else read_text(path), str(path))


def render(entries: Mapping[str, Json], rules_version: str) -> str:
    """The text of a database file: sorted, long things in lines of their own; a change is a small diff."""
    return rendered({key: entry_text(entry) for key, entry in entries.items()}, rules_version)


def entry_text(raw: Json) -> str:
    """An entry as it stands in a file."""
    return laid_out(packed(raw), INDENT)


def rendered(
    texts: Mapping[str, str], rules_version: str, families: Mapping[str, Family] | None = None
) -> str:
    """The text of a database file from the texts of its entries and the index of its families."""
    rows = [f"  {dumped(key)}: {texts[key]}" for key in sorted(texts)]
    inside = "{\n" + ",\n".join(rows) + "\n }" if rows else "{}"
    index = f' "families": {_index(families)},\n' if families else ""
    version = f' "rules_version": {dumped(rules_version)},\n "schema_version": {SCHEMA_VERSION}'
    return f'{{\n "entries": {inside},\n{index}{version}\n}}\n'


def head_text(key: str, texts: Texts) -> Head:
    """The head of an entry of a family."""
    found = head_in(texts[key])
    return found if found is not None else head_of(unpacked(json.loads(bytes(texts[key]))))


def read_text(path: Path) -> str:
    """The text of a database file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatabaseError(_damaged(str(path), f"byte {error.start} is not UTF-8")) from error
    except OSError as error:
        raise DatabaseError(f"reading {path}: {error.strerror or error}") from error


def check_regular(path: Path) -> None:
    """Refuse what is read without end: a pipe, a device.

    Raises:
        DatabaseError: for such a path.
    """
    resolved(path)
    try:
        mode = path.stat().st_mode
    except OSError:  # whoever reads it says so
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise DatabaseError(f"reading {path}: it is no file; move it away")


def _loaded(path: Path) -> tuple[Mapping[str, Json], str]:
    content = content_in(path)
    if content is None:  # reading its text says what is the matter
        return _read_whole(read_text(path), str(path))
    if content.families:
        content = FileContent(content.texts, content.version, content.rules, _current(path, content.families))
    return _entries(content, lambda name: family_texts(path, name))


def _entries(content: FileContent, opened: Callable[[str], Texts]) -> tuple[RawEntries, str]:
    texts = FamilyTexts(content.texts, content.families, opened) if content.families else content.texts
    return RawEntries(texts, content.version), content.rules


def _current(main: Path, index: Mapping[str, Family]) -> dict[str, Family]:
    """The index as the files are: those that somebody else changed, or added, are looked into."""
    there = sizes(main)
    found = dict(index)
    for name, size in there.items():
        if name not in index or index[name].bytes != size:
            texts = family_texts(main, name)
            found[name] = Family(size, {key: head_text(key, texts) for key in texts})
    return found


def _texts(content: FileContent | None, text: str | None, origin: str) -> Texts:
    if content is not None and content.version == SCHEMA_VERSION:
        return content.texts
    entries = _read_whole(text or "", origin)[0]
    return {key: entry_text(entry).encode() for key, entry in entries.items()}


def _index(families: Mapping[str, Family]) -> str:
    """The index, deeper than entries stand: whoever looks for these by lines finds none in it."""
    rows = []
    for name, family in sorted(families.items()):
        heads = [f"     {dumped(key)}: {_head(head)}" for key, head in sorted(family.entries.items())]
        inside = "{\n" + ",\n".join(heads) + "\n    }"
        rows.append(f'   {dumped(name)}: {{"bytes": {family.bytes}, "entries": {inside}}}')
    return "{\n" + ",\n".join(rows) + "\n  }"


def _head(head: Head) -> str:
    told = {name: getattr(head, name) for name in head.__struct_fields__}
    return dumped({name: value for name, value in told.items() if value})


def _read_whole(text: str, origin: str) -> tuple[dict[str, Json], str]:
    """Every entry at once: of a file of an older version, or of one that is damaged, which is then told."""
    content = migrated(_json(text, origin), origin)
    entries = content.get("entries")
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise DatabaseError(_damaged(origin, "'entries' is not an object of objects"))
    try:
        whole = {str(key): unpacked(cast(Json, entry)) for key, entry in entries.items()}
    except ValueError as error:
        raise DatabaseError(_damaged(origin, f"an entry is in no form of ours ({error})")) from error
    return whole, str(content.get("rules_version", ""))


def _json(text: str, origin: str) -> Json:
    try:
        content = json.loads(text)
        check_text(text.encode(), content)
    except json.JSONDecodeError as error:
        what = f"it stops being JSON at line {error.lineno}, column {error.colno} ({error.msg})"
        if "<<<<<<< " in text:
            what += "; it holds the marks of a merge that was not finished"
        raise DatabaseError(_damaged(origin, what)) from error
    except (RecursionError, ValueError) as error:
        raise DatabaseError(_damaged(origin, f"it cannot be read as JSON ({error})")) from error
    if not isinstance(content, dict):
        raise DatabaseError(_damaged(origin, f"the whole is a {type(content).__name__}, not an object"))
    return content


def _damaged(origin: str, what: str) -> str:
    return (
        f"reading {origin}: the database is damaged: {what}; the file was left untouched. "
        "Restore it from version control, or move it away to start afresh"
    )


def _marks(path: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
