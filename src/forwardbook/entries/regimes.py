"""Entries by key in; the regimes of each way to call a class as expressions out, each read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forwardbook.entries.expressions import RegimeExpressions
from forwardbook.entries.record import Entry
from forwardbook.errors import FormulaError, ForwardbookError


class EntryError(ForwardbookError):
    """An entry is missing, is not what it should be, or was asked for what it does not say."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One way to call a class: its regimes in the order in which they are tried, and all their names."""

    key: str
    name: str
    regimes: tuple[RegimeExpressions, ...]
    names: tuple[str, ...]


class Regimes:
    """The signatures of the entries of a store, which may come from anybody."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = entries
        self._signatures: dict[tuple[str, str], Signature] = {}
        self._holders: dict[str, str] = {}

    def entry(self, key: str) -> Entry:
        """The entry of a key.

        Raises:
            EntryError: there is none.
        """
        try:
            return self.entries[key]
        except KeyError:
            raise EntryError(
                f"looking for the entry {key}: it is not in the database; add it with: "
                "forwardbook analyze-module package.module.Class"
            ) from None

    def holder(self, key: str) -> str:
        """The key of the entry that has the formulas: where `same_as` leads to, or the key itself.

        Raises:
            EntryError: it leads nowhere, or back.
        """
        if key not in self._holders:
            seen, place = [key], key
            while (target := self.entry(place).same_as) is not None:
                if target in seen:
                    raise EntryError(
                        f"reading the entry {key}: same_as leads back: {' -> '.join([*seen, target])}"
                    )
                seen.append(target)
                place = target
            self._holders[key] = place
        return self._holders[key]

    def signatures(self, key: str) -> tuple[str, ...]:
        """The names of the ways to call the class, in the order of its regimes."""
        return tuple(dict.fromkeys(one.signature for one in self.entry(self.holder(key)).regimes))

    def signature(self, key: str, name: str) -> Signature:
        """One way to call the class.

        Raises:
            EntryError: there is no such signature, or one of its formulas cannot be read.
        """
        if (key, name) not in self._signatures:
            holder = self.holder(key)
            self._signatures[key, name] = (
                self._read(holder, name) if holder == key else self.signature(holder, name)
            )
        return self._signatures[key, name]

    def _read(self, key: str, name: str) -> Signature:
        entry = self.entry(key)
        try:
            found = [RegimeExpressions.of(key, entry, one) for one in entry.regimes if one.signature == name]
        except FormulaError as error:
            raise EntryError(f"{error}; derive the class again") from error
        if not found:
            known = ", ".join(self.signatures(key)) or "none: it has no formulas"
            raise EntryError(
                f"reading the entry {key}: it has no signature {name!r}; its signatures: {known}"
            )
        names = frozenset[str]().union(*(one.names for one in found))
        return Signature(key, name, tuple(found), tuple(sorted(names)))
