"""Entries that lead to another one's formulas in; out as entries of their own, and back again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from forwardbook import generate
from forwardbook.pipeline.catalogue import share
from forwardbook.pipeline.catalogue.share import copy_of, released, shape
from forwardbook.schema import Entry
from forwardbook.workspace import Database, DatabaseError


def whole(database: Database, key: str) -> Entry:
    """The entry of a class with the formulas that it has, its own or those of the entry it leads to."""
    entry = database[key]
    return entry if entry.same_as is None else released(entry, database.resolved(key)[1])


def freed(stored: Mapping[str, Entry], database: Database) -> dict[str, Entry]:
    """Copies that lead to an entry which now says something else: each with what that said until now."""
    changed = {key for key, entry in stored.items() if _is_changed(key, entry, database)}
    found: dict[str, Entry] = {}
    for key in database.own if changed else ():
        if key not in stored and database.head(key).same_as in changed:
            target, holder = database.resolved(key)
            entry = share.freed(database[key], holder, target)
            found[key] = generate.with_generated_names(key, entry, {}) if entry.regimes else entry
    return found


def _is_changed(key: str, entry: Entry, database: Database) -> bool:
    """Whether an entry says something else than the present one; what a damaged one said nobody knows."""
    try:
        return key in database and shape(whole(database, key)) != shape(entry)
    except DatabaseError:
        return False


def copies_again(before: Mapping[str, Entry], keys: Iterable[str], database: Database) -> dict[str, Entry]:
    """Entries that led to another before: those that still may, because neither code nor formulas differ.

    `before` has the entries as they were stored, by key.
    """
    found: dict[str, Entry] = {}
    for key in keys:
        was, target = before[key], before[key].same_as
        if target is None or target not in database or key not in database:
            continue
        entry, holder = database[key], database[target]
        same_code = entry.source_hash == was.source_hash and entry.code_hash == was.code_hash
        led_by = before.get(target, holder)
        same_code = same_code and holder.source_hash == led_by.source_hash
        if entry.same_as is None and holder.same_as is None and same_code and shape(entry) == shape(holder):
            found[key] = copy_of(entry, target)
    return found
