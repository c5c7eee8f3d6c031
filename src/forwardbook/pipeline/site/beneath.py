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

    def stamps(self, raw: Raw) -> list[str]:
        """Of each entry that the lines of this one call, and of those beneath them, what changes with it."""
        found: dict[str, str] = {}
        waiting = list(called_classes(raw))
        while waiting:
            class_name = waiting.pop()
            if class_name not in found:
                found[class_name], called = self._stamp(class_name)
                waiting += called
        return sorted(found.values())

    def _stamp(self, class_name: str) -> tuple[str, tuple[str, ...]]:
        if class_name not in self._stamps:
            raw: Raw = self._database.raw(keys[-1]) if (keys := self._keys(class_name)) else {}
            text = json.dumps([class_name, raw], sort_keys=True).encode()
            self._stamps[class_name] = hashlib.sha256(text).hexdigest(), tuple(called_classes(raw))
        return self._stamps[class_name]

    def _keys(self, class_name: str) -> list[str]:
        key = self._database.key_of(class_name)
        return [] if key is None else chain(self._database, key)


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
