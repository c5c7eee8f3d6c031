"""Results of units in; the database and the catalogue with all of them, copies sharing one entry, out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forwardbook import generate
from forwardbook.analyzers.ops import RULES_VERSION
from forwardbook.pipeline.catalogue.plan import Plan
from forwardbook.pipeline.catalogue.record import (
    Catalogue,
    ClassResult,
    LibraryRecord,
    UnitRecord,
    UnitResult,
    read_catalogue,
    write_catalogue,
)
from forwardbook.pipeline.catalogue.share import freed, shape, shared, withdrawn
from forwardbook.pipeline.catalogue.standing import PART
from forwardbook.pipeline.versions import of_one_state
from forwardbook.schema import PROVED, Entry
from forwardbook.workspace import Database, Workspace


@dataclass(frozen=True, slots=True)
class Merged:
    """How many entries were put into the database, and how many of them lead to a copy's."""

    stored: int
    sharing: int


def merge(plan: Plan, results: Sequence[UnitResult], workspace: Workspace, *, whole: bool) -> Merged:
    """Put every proved entry into the database, then every unit into the catalogue.

    `whole` says that the results are all of the library's: what the catalogue knew of other units is dropped.
    """
    catalogue = read_catalogue(workspace)
    database = workspace.load()
    derived = {name: raw for one in results for name, raw in sorted(one.entries.items())}
    of_users = _of_users(derived, database)
    fresh = {name: Entry.model_validate(raw) for name, raw in derived.items() if name not in of_users}
    refuted = _refuted(results, database)
    changed: dict[str, Entry] = {}
    if fresh or refuted:
        folder = workspace.generated_folder
        changed = _changed(fresh, refuted, results, database, plan.library, catalogue, folder)
        workspace.save(changed, rules_version=RULES_VERSION)
    library = catalogue.libraries.get(plan.library, LibraryRecord())
    units = {} if whole else dict(library.units)
    units |= {one.unit: one.record for one in results}
    holders = {entry.full_class_name: entry.same_as or "" for entry in changed.values()}
    lost = {one.full_class_name: one.validation.reason for one in changed.values() if _has_none(one)}
    units = {name: _told(_lost(unit, lost), holders) for name, unit in units.items()}
    worked = {one.unit for one in results if one.entries}
    totals = {name: one for name, one in library.totals.items() if one.unit in units.keys() - worked}
    record = LibraryRecord(
        version=plan.version,
        stamp=plan.stamp if whole else "",
        classes=plan.classes,
        units=units,
        totals=totals,
    )
    updated = Catalogue(libraries={**catalogue.libraries, plan.library: record})
    if updated != catalogue:
        write_catalogue(updated, workspace)
    return Merged(len(fresh), sum(map(bool, holders.values())))


def _told(unit: UnitRecord, holders: Mapping[str, str]) -> UnitRecord:
    """The unit with the keys that its classes lead to by now."""
    if not any(holders.get(one.name, one.same_as) != one.same_as for one in unit.classes):
        return unit
    classes = (one.model_copy(update={"same_as": holders.get(one.name, one.same_as)}) for one in unit.classes)
    return unit.model_copy(update={"classes": tuple(classes)})


def _of_users(names: Collection[str], database: Database) -> set[str]:
    """Those whose entries were derived as a person said: nothing else takes their place."""
    keys = database.keys_by_class() if names else {}
    own = (name for name in names if keys.get(name) in database.own)
    return {name for name in own if database[keys[name]].given is not None}


def _has_none(entry: Entry) -> bool:
    return not entry.regimes and entry.same_as is None


def _lost(unit: UnitRecord, lost: Mapping[str, str]) -> UnitRecord:
    """The unit without the verdicts of classes whose formulas went with those of the entry they led to."""
    if not any(one.name in lost and one.state in PROVED for one in unit.classes):
        return unit
    gone = {"state": "unproved", "kind": "not proved", "same_as": "", "digest": ""}
    classes = (
        one.model_copy(update={**gone, "reason": lost[one.name]})
        if one.name in lost and one.state in PROVED
        else one
        for one in unit.classes
    )
    return unit.model_copy(update={"classes": tuple(classes)})


def _refuted(results: Iterable[UnitResult], database: Database) -> dict[str, Entry]:
    """Entries, by key, of classes whose formulas measurement has refuted by now: without formulas.

    What a person validated stays.
    """
    wrong = {one.name: one.reason for unit in results for one in unit.record.classes if one.state == "wrong"}
    keys = database.keys_by_class() if wrong else {}
    own = (name for name in sorted(wrong.keys() & keys.keys()) if keys[name] in database.own)
    stored = {name: database[keys[name]] for name in own}
    proved = {name: entry for name, entry in stored.items() if entry.regimes or entry.same_as}
    return {
        keys[name]: withdrawn(entry, wrong[name])
        for name, entry in proved.items()
        if not entry.validation.human_validated and entry.given is None
    }


def _changed(
    fresh: Mapping[str, Entry],
    refuted: Mapping[str, Entry],
    results: Iterable[UnitResult],
    database: Database,
    library: str,
    catalogue: Catalogue,
    folder: Path,
) -> dict[str, Entry]:
    """Entries to be written, by key: fresh and refuted ones, copies whose holder says something else.

    Of copies those that have a calculator on disk hold their own: nobody's file is left without an entry.
    """
    keys = _keyed(fresh, database)
    named = {**{key: _named(key, fresh[name], database) for name, key in keys.items()}, **refuted}
    named |= _freed(named, database)
    digests = _digests(results, catalogue, library)
    by_key = {key: digests.get(entry.full_class_name, "") for key, entry in named.items()}
    held = _held(by_key, database, digests, library)
    for key, (entry, digest) in held.items():
        named.setdefault(key, entry)
        by_key.setdefault(key, digest)
    together = shared(named, by_key, {key for key, entry in named.items() if _is_written(entry, folder)})
    changed = {key: entry for key, entry in together.items() if key not in held or entry != held[key][0]}
    return _led_on(changed, database) | changed


def _is_written(entry: Entry, folder: Path) -> bool:
    """Whether the calculator of an entry lies in the folder of calculators."""
    return bool(entry.generated_file_name) and (folder / entry.generated_file_name).is_file()


def _led_on(changed: Mapping[str, Entry], database: Database) -> dict[str, Entry]:
    """Copies of entries that became copies themselves, led to where these lead now."""
    found: dict[str, Entry] = {}
    for key in database.own:
        holder = changed.get(database.head(key).same_as or "")
        if holder is not None and holder.same_as is not None:
            found[key] = database[key].model_copy(update={"same_as": holder.same_as})
    return found


def _keyed(fresh: Mapping[str, Entry], database: Database) -> dict[str, str]:
    """A key for each class, as they would get them one after the other."""
    taken = database.keys_by_class()
    names = {key: name for name, key in taken.items()}
    found: dict[str, str] = {}
    for name in sorted(fresh):
        key = taken.get(name) or _free(name, fresh[name].library, names)
        names[key] = name
        found[name] = key
    return found


def _free(name: str, library: str, names: Mapping[str, str]) -> str:
    """`library_Class`; where another class has that key, with the module path between."""
    module, _, short = name.rpartition(".")
    key = f"{library}_{short}"
    if names.get(key, name) == name:
        return key
    path = module.removeprefix(library).strip(".").replace(".", "_")
    return f"{library}_{path}_{short}"


def _named(key: str, entry: Entry, database: Database) -> Entry:
    """With the names of its calculator, what a person validated of the same formulas, and other scenarios."""
    named = generate.with_generated_names(key, entry, {})
    if key in database.own:
        before = database[key]
        named = with_scenarios(named, before)
        if before.validation.human_validated and shape(before) == shape(entry):
            validation = named.validation.model_copy(update={"human_validated": True})
            return named.model_copy(update={"validation": validation})
    return named


def with_scenarios(entry: Entry, before: Entry) -> Entry:
    """The entry with the regimes of scenarios that it says nothing of: the catalogue does not decode.

    They stay only where the source, the rules and the versions are those that they were derived from. What
    the catalogue once derived of a part of a model, called alone, goes: a model that calls it was found.
    """
    if entry.source_hash != before.source_hash or not of_one_state(entry, before):
        return entry
    told = {one.scenario for one in entry.regimes}
    others = tuple(
        one for one in before.regimes if one.scenario not in told and not one.scenario.endswith(PART)
    )
    if not others or not entry.regimes:
        return entry
    known = {one.name for one in entry.parameters}
    needed = {name for one in others for name in one.parameters} - known
    added = (one for one in before.parameters if one.name in needed)
    parameters = sorted((*entry.parameters, *added), key=lambda one: one.name)
    regimes = (*entry.regimes, *others)
    return entry.model_copy(update={"regimes": regimes, "parameters": tuple(parameters)})


def _freed(named: Mapping[str, Entry], database: Database) -> dict[str, Entry]:
    """Copies that lead to an entry which is about to change: each gets what that said until now."""
    found: dict[str, Entry] = {}
    for key in database.own:
        target = database.head(key).same_as
        if target is not None and target in named and key not in named:
            holder = database.resolved(key)[1]
            if shape(holder) != shape(named[target]):
                entry = freed(database[key], holder, target)
                found[key] = _named(key, entry, database) if entry.regimes else entry
    return found


def _held(
    changed: Mapping[str, str], database: Database, digests: Mapping[str, str], library: str
) -> dict[str, tuple[Entry, str]]:
    """Entries of the library that stay, of the same code as one that changed: either may be the copy."""
    wanted = set(changed.values())
    found: dict[str, tuple[Entry, str]] = {}
    for key in database.own:
        head = database.head(key)
        if key in changed or head.library != library or head.same_as is not None:
            continue
        digest = digests.get(head.full_class_name, "")
        if digest and digest in wanted and database[key].given is None:
            found[key] = (database[key], digest)
    return found


def _digests(results: Iterable[UnitResult], catalogue: Catalogue, library: str) -> dict[str, str]:
    """The hash of the code of each proved class, as it is now else as the catalogue has it."""
    before = catalogue.libraries.get(library, LibraryRecord())
    classes: list[ClassResult] = [one for unit in before.units.values() for one in unit.classes]
    classes += [one for result in results for one in result.record.classes]
    return {one.name: one.digest for one in classes if one.digest}
