"""A workspace and an earlier state of its database in; out whose cost changed since, and budgets broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from forwardbook.guard.change import ClassChange, class_change, unchanged
from forwardbook.guard.findings import SHOWN, Findings, Trouble
from forwardbook.guard.kept import Kept, kept
from forwardbook.guard.settings import Settings, is_named, read_settings
from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.located import file_of, located
from forwardbook.pipeline.regenerate.current import Current, Now, Told
from forwardbook.pipeline.regenerate.released import is_fresh
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
    wanted = [find(before, name) for name in asked.names] or sorted(before.own)
    fresh = _fresh(before, set(wanted), workspace.root) if before is present else []
    keys, bad = readable(before, sorted(set(wanted) - set(fresh)))
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
        if found[key].entry is not None and found[key].entry is not was[key]
    ]
    troubles = [found[key].trouble(was[key], workspace.root) for key in keys if found[key].entry is None]
    troubles += [Trouble(key, key, why, DATABASE_NAME, 1) for key, why in bad.items()]
    entries = {one.key: one.entry for one in found.values() if one.entry is not None}
    others = {one.key for one in changes if one.is_changed} | {one.key for one in troubles}
    same = [key for key in (*keys, *fresh) if key not in others]
    return Findings(
        (side, "the code now"),
        tuple(changes),
        tuple(troubles),
        tuple(_budgets(entries, fresh, settings, present, workspace.root)),
        tolerance,
        len(keys) + len(fresh),
        sum(one.derived for one in found.values()),
        ((), tuple(sorted(entry.full_class_name for entry in added.values())) if asked.against else ()),
        tuple(_unchanged(key, entries.get(key), present, settings) for key in same[:SHOWN]),
    )


def _fresh(database: Database, wanted: set[str], folder: Path) -> list[str]:
    """Those that are known to be fresh, looked at in the order of the files, so that each is read once."""
    return sorted(key for key in database.own if key in wanted and is_fresh(database, key, folder))


def _unchanged(key: str, entry: Entry | None, present: Database, settings: Settings) -> ClassChange:
    entry = entry or whole(present, key)
    return unchanged(key, entry, settings.sizes_of(entry.full_class_name, key))


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


def _budgets(
    entries: Mapping[str, Entry], fresh: Sequence[str], settings: Settings, present: Database, folder: Path
) -> Iterator[Kept]:
    """Each budget held against the entries, the fresh ones that it names, or else one of those beneath."""
    wanted = {budget.name for budget in settings.budgets}
    named = _named_keys(wanted, fresh, present)
    own = [(key, entry.full_class_name) for key, entry in entries.items()]
    own += [(key, present.head(key).full_class_name) for key in named]
    open_ = {name for name in wanted if not any(name == key or is_named(full, name) for key, full in own)}
    more = {key: whole(present, key) for key in (*named, *_named_keys(open_, present, present))}
    every = {**more, **entries}
    places = {entry.full_class_name: entry for entry in every.values()}
    for one in kept(settings, every):
        entry = places.get(one.full_class_name)
        yield one if entry is None else replace(one, file=file_of(entry, folder))


def _named_keys(names: set[str], keys: Iterable[str], present: Database) -> list[str]:
    found: list[str] = []
    for key in keys if names else ():
        full = present.head(key).full_class_name
        if key in names or any(is_named(full, name) for name in names):
            found.append(key)
    return found
