"""The database in; of a class that is called its entry, and stamps of all that a class calls, out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import cast

from forwardbook.schema import Entry
from forwardbook.workspace import Database

Raw = Mapping[str, object]


class Beneath:
    """The classes beneath classes: which they are, and what their entries say. Nothing large is kept."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stamps: dict[str, tuple[str, tuple[str, ...]]] = {}

    def entry(self, class_name: str) -> Entry | None:
        """The entry with the formulas of a class, None where it has none."""
        keys = self._keys(class_name)
        alone = Database({key: self._database.raw(key) for key in keys})  # not kept
        return alone.resolved(keys[0])[1] if keys else None

    def stamps(self, key: str, raw: Raw) -> list[str]:
        """Of an entry with formulas, and of all that its lines call and lines beneath them, a digest each."""
        self._stamp(key, raw)
        found: dict[str, str] = {}
        waiting = [key]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found[one], called = self._stamp(one)
                waiting += (keys[-1] for name in called if (keys := self._keys(name)))
        return sorted(found.values())

    def _stamp(self, key: str, raw: Raw | None = None) -> tuple[str, tuple[str, ...]]:
        """The digest of an entry and the classes that it calls, kept; `raw` where it was read already."""
        if key not in self._stamps:
            with self._database.reading(key):
                self._stamps[key] = _stamp(self._database.raw(key) if raw is None else raw)
        return self._stamps[key]

    def _keys(self, class_name: str) -> list[str]:
        key = self._database.key_of(class_name)
        return [] if key is None else chain(self._database, key)


def _stamp(raw: Raw) -> tuple[str, tuple[str, ...]]:
    text = json.dumps(raw, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest(), tuple(dict.fromkeys(called_classes(raw)))


def chain(database: Database, key: str) -> list[str]:
    """The key, and those that `same_as` leads to, the entry with the formulas last."""
    keys = [key]
    while (target := database.head(keys[-1]).same_as) is not None:
        if target not in database or target in keys:
            break
        keys.append(target)
    return keys


def called_classes(raw: Raw) -> Iterator[str]:
    """The full names of the classes that lines of an entry call, some of them several times."""
    for regime in cast("list[Raw]", raw.get("regimes") or []):
        calls = cast("Raw", regime.get("flop_analysis") or {}).get("submodule_calls") or []
        yield from (str(call.get("class_name")) for call in cast("list[Raw]", calls))
