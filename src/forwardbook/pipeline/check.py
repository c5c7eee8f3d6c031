"""A workspace and an earlier state of its database in; out whose cost changed since, and budgets broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from forwardbook.guard.change import ClassChange, class_change
from forwardbook.guard.findings import Findings, Trouble
from forwardbook.guard.kept import kept
from forwardbook.guard.settings import Settings, is_named, read_settings
from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.regenerate.current import Current, Now, Told, located
from forwardbook.pipeline.regenerate.stale import readable
from forwardbook.pipeline.spread import Spread
from forwardbook.registry import find
from forwardbook.schema import Entry
from forwardbook.workspace import Database, Workspace
from forwardbook.workspace.database_file import database_at, database_in
from forwardbook.workspace.folder import DATABASE_NAME
from forwardbook.workspace.kept_outcomes import KeptOutcomes
from forwardbook.workspace.revision import commit_of


@dataclass(frozen=True)
class Asked:
    """What is to be checked: by default every own class against the database on disk."""

    names: tuple[str, ...] = ()
    against: str = ""
    tolerance: Fraction | None = None
    spread: Spread = Spread()
    limits: Limits = field(default_factory=Limits.given)


def check(workspace: Workspace, asked: Asked, told: Told = lambda doing, done, total: None) -> Findings:
    """Compare the cost of each class as its code is now with what the database said, and hold the budgets.

    Raises:
        ForwardbookError: where settings, the database or the revision cannot be read.
    """
    settings = read_settings(workspace.root)
    present = workspace.load()
    before, side = _before(workspace, present, asked.against)
    keys, bad = readable(before, [find(before, name) for name in asked.names] or sorted(before.own))
    was = {key: whole(before, key) for key in keys}
    stored = _stored(present, was)
    names = {entry.full_class_name for entry in was.values()}
    added = {} if asked.names else _added(present, names)
    now = Now(workspace.root, KeptOutcomes(workspace.root), asked.spread, asked.limits, told=told)
    found = {one.key: one for one in now.of({**stored, **added}, present.rules_version)}
    tolerance = settings.tolerance if asked.tolerance is None else asked.tolerance
    changes = [
        located(_change(key, was[key], found[key], settings), was[key], workspace.root)
        for key in keys
        if found[key].entry is not None
    ]
    troubles = [found[key].trouble(was[key]) for key in keys if found[key].entry is None]
    troubles += [Trouble(key, key, why, DATABASE_NAME, 1) for key, why in bad.items()]
    entries = {one.key: one.entry for one in found.values() if one.entry is not None}
    return Findings(
        (side, "the code now"),
        tuple(changes),
        tuple(troubles),
        tuple(kept(settings, _with_named(entries, settings, present))),
        tolerance,
        len(keys),
        sum(one.derived for one in found.values()),
        ((), tuple(sorted(entry.full_class_name for entry in added.values())) if asked.against else ()),
    )


def _change(key: str, was: Entry, current: Current, settings: Settings) -> ClassChange:
    assert current.entry is not None
    sizes = settings.sizes_of(was.full_class_name, key)
    return class_change(key, was, current.entry, sizes, current.reasons)


def _before(workspace: Workspace, present: Database, against: str) -> tuple[Database, str]:
    """The database to compare with, and what to call it.

    Raises:
        ForwardbookError: where there is no such revision, or its database cannot be read.
    """
    if not against:
        return present, DATABASE_NAME
    path = Path(against)
    if path.is_file():
        return database_in(path), against
    commit = commit_of(workspace.root, against)
    database = database_at(workspace.root, commit, DATABASE_NAME)
    if database is None:
        return Database({}), f"{against}, which has no {DATABASE_NAME}"
    return database, against


def _stored(present: Database, was: Mapping[str, Entry]) -> dict[str, Entry]:
    """For each class the entry of the present database, which may be fresh; else the one of before."""
    names = {entry.full_class_name: present.key_of(entry.full_class_name) for entry in was.values()}
    good, _ = readable(present, [key for key in names.values() if key is not None])
    found = {present[key].full_class_name: whole(present, key) for key in good}
    return {key: found.get(entry.full_class_name, entry) for key, entry in was.items()}


def _added(present: Database, names: set[str]) -> dict[str, Entry]:
    """Own entries that the earlier state did not have; budgets hold for them too."""
    keys, _ = readable(present, sorted(present.own))
    return {key: whole(present, key) for key in keys if present[key].full_class_name not in names}


def _with_named(entries: Mapping[str, Entry], settings: Settings, present: Database) -> dict[str, Entry]:
    """The entries and, of those beneath, the ones that a budget names."""
    own = [(key, entry.full_class_name) for key, entry in entries.items()]
    wanted = {budget.name for budget in settings.budgets}
    open_ = {name for name in wanted if not any(name == key or is_named(full, name) for key, full in own)}
    return {**{key: whole(present, key) for key in _named_keys(open_, present)}, **entries}


def _named_keys(names: set[str], present: Database) -> Iterator[str]:
    for key in present if names else ():
        full = present.head(key).full_class_name
        if key in names or any(is_named(full, name) for name in names):
            yield key
