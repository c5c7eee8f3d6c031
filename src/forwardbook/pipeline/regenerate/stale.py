"""The entries of a workspace in; out those that no longer say what an analysis would say, each with why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.regenerate.asked_again import subject_of
from forwardbook.pipeline.regenerate.released import is_of_release
from forwardbook.pipeline.versions import current_versions, differing
from forwardbook.schema import Entry
from forwardbook.workspace import Database, DatabaseError


@dataclass(frozen=True, slots=True)
class Stale:
    """One entry, why it is stale, and whether its class is not there any more."""

    key: str
    entry: Entry
    reasons: tuple[str, ...]
    is_gone: bool = False
    of_rules: bool = False
    """Whether only our cost rules are others: its code and all versions are as they were."""


def stale_entries(
    keys: Iterable[str],
    database: Database,
    folder: Path,
    told: Callable[[str], None] = lambda name: None,
    every: bool = False,
) -> Iterator[Stale]:
    """Of the entries with these keys, those that are stale; with `every` all of them.

    Raises:
        DatabaseError: for an entry that cannot be read.
    """
    for key in keys:
        told(key)
        entry = database[key]
        operations = database.resolved(key)[1].operations
        found = stale_entry(key, entry, database.rules_version, folder, operations)
        if found is not None:
            yield found
        elif every:
            yield Stale(key, entry, ("asked for",))


def stale_entry(key: str, entry: Entry, rules: str, folder: Path, operations: frozenset[str]) -> Stale | None:
    """Why an entry is stale, None where it is not; `operations` are those of the entry that it leads to.

    Where a version of anything but our rules says so no source is read, and none of a library that is as it
    was released.
    """
    others, prompt = differing(entry.versions, rules, operations), tuple(_other_prompt(entry))
    reasons = (*_other_versions(entry, rules, others), *prompt)
    if prompt or (others and others != ["rules"]):
        return Stale(key, entry, reasons)
    found = _other_code(key, entry, folder)
    if not others:
        return found
    return Stale(key, entry, reasons, of_rules=True) if found is None else found


def _other_code(key: str, entry: Entry, folder: Path) -> Stale | None:
    """What of the code of a class is another than it was; None where nothing is."""
    if is_of_release(entry, folder):
        return None
    try:
        wanted = subject_of(entry, folder)
    except ForwardbookError as error:
        return Stale(key, entry, (str(error).splitlines()[0],), is_gone=True)
    if wanted.source_hash != entry.source_hash:
        return Stale(key, entry, ("its forward() or what that calls changed",))
    if wanted.code_hash() == entry.code_hash:
        return None
    known = "code that it is built from changed"
    unknown = "it was stored before the code that it is built from was hashed"
    return Stale(key, entry, (known if entry.code_hash else unknown,))


def _other_versions(entry: Entry, rules: str, names: Iterable[str]) -> Iterator[str]:
    recorded: Mapping[str, str] = {"rules": rules} | dict(entry.versions)
    now = current_versions(entry.library)
    for name in names:
        yield f"{name} {recorded[name]} -> {now.get(name, 'not installed')}"


def _other_prompt(entry: Entry) -> Iterator[str]:
    if entry.proposal is not None:
        from forwardbook.agents.prompt import version

        now = version("module_analyst")
        if entry.proposal.prompt_version != now:
            yield f"prompt {entry.proposal.prompt_version} -> {now}"


def readable(database: Database, keys: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """The keys of entries that can be read; the others with what is wrong."""
    good: list[str] = []
    bad: dict[str, str] = {}
    for key in keys:
        try:
            database.resolved(key)
            good.append(key)
        except DatabaseError as error:
            bad[key] = str(error).splitlines()[0]
    return good, bad
