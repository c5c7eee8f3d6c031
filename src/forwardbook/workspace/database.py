"""The database in memory: raw JSON in, entries by key out, each validated when first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec
from pydantic import ValidationError

from forwardbook.errors import ForwardbookError
from forwardbook.schema import Entry
from forwardbook.stored_names import is_key
from forwardbook.workspace.heads import Head, Listed, Origin, head_of
from forwardbook.workspace.migrations import Json
from forwardbook.workspace.raw_entries import RawEntries


class DatabaseError(ForwardbookError):
    """A database file, or one entry of it, is not what the schema says."""


class Database(Mapping[str, Entry]):
    """Entries by key, sorted. Entries of the own file hide those of the shipped one beneath it.

    Raises:
        DatabaseError: for a key that is none; nothing of an entry is read for that.
    """

    def __init__(
        self, own: Mapping[str, Json], beneath: Mapping[str, Json] | None = None, rules: str = ""
    ) -> None:
        self.own = own
        self.rules_version = rules
        self._sources: tuple[Mapping[str, Json], ...] = (own, beneath or {})
        self._keys = {*own, *(beneath or {})}
        if (odd := next((key for key in own if not is_key(key)), None)) is not None:
            raise DatabaseError(
                f"reading the database: {odd[:80]!r} is no key of an entry; take this entry out of the file"
            )
        self._entries: dict[str, Entry] = {}
        self._heads: dict[str, Head] = {}
        self._by_name: dict[str, str] | None = None

    def __getitem__(self, key: str) -> Entry:
        if key not in self._entries:
            self._entries[key] = entry_from(key, self.raw(key))
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._keys))

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def raw(self, key: str) -> Json:
        """The JSON of an entry as it stands in the file, not validated."""
        return raw_entry(self._holding(key)[0], key)

    @contextmanager
    def reading(self, key: str) -> Iterator[None]:
        """Around code that reads the raw JSON of an entry and of the one that it leads to.

        Raises:
            DatabaseError: what the schema says of them, where that code met another shape.
        """
        try:
            yield
        except (AttributeError, KeyError, TypeError, ValueError):
            self.resolved(key)  # which says what is wrong with it
            raise

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

    def origin(self, key: str) -> Origin | None:
        """What an entry was derived from, without decoding all of it; None where that cannot be told so."""
        source = self._holding(key)[0]
        return source.origin(key) if isinstance(source, RawEntries) else None

    def listed(self, key: str) -> Listed:
        """What a list says of an entry.

        Raises:
            DatabaseError: where it is not what the schema says.
        """
        source = self._holding(key)[0]
        found = source.listed(key) if isinstance(source, RawEntries) else None
        return msgspec.convert(self[key].model_dump(mode="json"), Listed) if found is None else found

    def operations(self, key: str) -> frozenset[str]:
        """The operations that an entry lists."""
        source = self._holding(key)[0]
        found = source.operations(key) if isinstance(source, RawEntries) else None
        return self[key].operations if found is None else found

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

    def keys_by_class(self) -> Mapping[str, str]:
        """The key of each class by its full name, of several the first; no entry is decoded for it."""
        if self._by_name is None:
            self._by_name = {self.head(key).full_class_name: key for key in sorted(self._keys, reverse=True)}
        return self._by_name

    def key_of(self, full_class_name: str) -> str | None:
        """The key of a class that is in the database; of several the first."""
        return self.keys_by_class().get(full_class_name)


def raw_entry(entries: Mapping[str, Json], key: str) -> Json:
    """The JSON of an entry as it stands in the file, not validated.

    Raises:
        DatabaseError: where it cannot be decoded, such as a number of thousands of digits.
    """
    try:
        return entries[key]
    except (ValueError, RecursionError) as error:
        raise DatabaseError(f"reading entry {key} of the database: it is damaged ({error})") from error


def entry_from(key: str, raw: Json) -> Entry:
    """The entry of JSON that is read, or about to be written.

    Raises:
        DatabaseError: where it is not what the schema says.
    """
    try:
        return Entry.model_validate(raw)
    except ValidationError as error:
        raise misshapen(f"entry {key} of the database is not what the schema says", error) from error


def misshapen(what: str, error: ValidationError) -> DatabaseError:
    """The error for an entry that is not what it should be: `what` says so, the first problems follow."""
    problems = [
        f"  {'.'.join(str(part) for part in problem['loc'])[:200]}: {problem['msg'][:200]}"
        for problem in error.errors(include_url=False, include_input=False)[:5]
    ]
    return DatabaseError(
        f"{what} ({error.error_count()} problems):\n"
        + "\n".join(problems)
        + "\nAnalyse the class again with --force to replace it"
    )
