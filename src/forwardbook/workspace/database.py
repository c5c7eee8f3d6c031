"""The database in memory: raw JSON in, entries by key out, each validated when first asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from forwardbook.errors import ForwardbookError
from forwardbook.schema import SCHEMA_VERSION, Entry
from forwardbook.workspace.migrations import Json, migrated
from forwardbook.workspace.raw_entries import Head, RawEntries, head_of, indented, raw_entries, raw_entries_in


class DatabaseError(ForwardbookError):
    """A database file, or one entry of it, is not what the schema says."""


class Database(Mapping[str, Entry]):
    """Entries by key, sorted. Entries of the own file hide those of the shipped one beneath it."""

    def __init__(
        self, own: Mapping[str, Json], beneath: Mapping[str, Json] | None = None, rules: str = ""
    ) -> None:
        self.own = own
        self.rules_version = rules
        self._sources: tuple[Mapping[str, Json], ...] = (own, beneath or {})
        self._keys = {*own, *(beneath or {})}
        self._entries: dict[str, Entry] = {}
        self._heads: dict[str, Head] = {}
        self._by_name: dict[str, str] | None = None

    def __getitem__(self, key: str) -> Entry:
        if key not in self._entries:
            self._entries[key] = _entry(key, self.raw(key))
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._keys))

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def raw(self, key: str) -> Json:
        """The JSON of an entry as it stands in the file, not validated."""
        try:
            return self._holding(key)[0][key]
        except (ValueError, RecursionError) as error:  # a number of thousands of digits
            raise DatabaseError(f"reading entry {key} of the database: it is damaged ({error})") from error

    def _holding(self, key: str) -> list[Mapping[str, Json]]:
        found = [source for source in self._sources if key in source]
        if not found:
            raise KeyError(key)
        return found

    def head(self, key: str) -> Head:
        """An entry's names and where it leads, without decoding all of it; for a look at many entries."""
        if key not in self._heads:
            source = self._holding(key)[0]
            self._heads[key] = source.head(key) if isinstance(source, RawEntries) else head_of(source[key])
        return self._heads[key]

    def with_entries(self, entries: Mapping[str, Entry]) -> Database:
        """The database as it is once these entries are in it."""
        changed: dict[str, Json] = {key: entry.model_dump(mode="json") for key, entry in entries.items()}
        found = Database(changed, None, self.rules_version)
        found._sources = (changed, *self._sources)
        found._keys = {*changed, *self._keys}
        found._heads = {key: head for key, head in self._heads.items() if key not in changed}
        return found

    def resolved(self, key: str) -> tuple[str, Entry]:
        """The entry that holds the formulas: the one that `same_as` leads to, or the entry itself."""
        seen = [key]
        while (target := self[key].same_as) is not None:
            if target in seen or target not in self:
                problem = "leads back to itself" if target in seen else "is not in the database"
                raise DatabaseError(f"entry {seen[0]}: same_as {' -> '.join([*seen, target])} {problem}")
            seen.append(target)
            key = target
        return key, self[key]

    def key_for(self, library: str, full_class_name: str) -> str:
        """`library_Class`; where another class of the library has that key, with the module path between."""
        module, _, name = full_class_name.rpartition(".")
        short = f"{library}_{name}"
        if short not in self or self.head(short).full_class_name == full_class_name:
            return short
        path = module.removeprefix(library).strip(".").replace(".", "_")
        return f"{library}_{path}_{name}"

    def key_of(self, full_class_name: str) -> str | None:
        """The key of a class that is in the database; of several the first."""
        if self._by_name is None:
            self._by_name = {self.head(key).full_class_name: key for key in sorted(self._keys, reverse=True)}
        return self._by_name.get(full_class_name)


def read_entries(text: str, origin: str) -> tuple[Mapping[str, Json], str]:
    """The raw entries and the rules version of a database file, in the current schema version."""
    found = raw_entries(text.encode("utf-8", "surrogatepass"), SCHEMA_VERSION)
    return found or _read_whole(text, origin)


def load_entries(path: Path) -> tuple[Mapping[str, Json], str]:
    """The same from a file; what cannot be read is told when its text is asked for."""
    return raw_entries_in(path, SCHEMA_VERSION) or _read_whole(read_text(path), str(path))


def _read_whole(text: str, origin: str) -> tuple[dict[str, Json], str]:
    """Every entry at once: of a file of an older version, or of one that is damaged, which is then told."""
    content = migrated(_json(text, origin), origin)
    entries = content.get("entries")
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise DatabaseError(_damaged(origin, "'entries' is not an object of objects"))
    return cast(dict[str, Json], entries), str(content.get("rules_version", ""))


def render(entries: Mapping[str, Json], rules_version: str) -> str:
    """The text of a database file: sorted, one value per line, so that a change is a small diff."""
    return rendered({key: indented(entry) for key, entry in entries.items()}, rules_version)


def rendered(texts: Mapping[str, str], rules_version: str) -> str:
    """The text of a database file from the texts of its entries."""
    rows = [f"  {_quoted(key)}: {texts[key]}" for key in sorted(texts)]
    inside = "{\n" + ",\n".join(rows) + "\n }" if rows else "{}"
    version = f' "rules_version": {_quoted(rules_version)},\n "schema_version": {SCHEMA_VERSION}'
    return f'{{\n "entries": {inside},\n{version}\n}}\n'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def read_text(path: Path) -> str:
    """The text of a database file."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DatabaseError(_damaged(str(path), f"byte {error.start} is not UTF-8")) from error
    except OSError as error:
        raise DatabaseError(f"reading {path}: {error.strerror or error}") from error


def _json(text: str, origin: str) -> Json:
    try:
        content = json.loads(text)
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


def _entry(key: str, raw: Json) -> Entry:
    try:
        return Entry.model_validate(raw)
    except ValidationError as error:
        problems = [
            f"  {'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors()[:5]
        ]
        raise DatabaseError(
            f"entry {key} of the database is not what the schema says ({error.error_count()} problems):\n"
            + "\n".join(problems)
            + "\nAnalyse the class again with --force to replace it"
        ) from error
