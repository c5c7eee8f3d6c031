"""Results of units and what is stored of the same classes in; out the results of which every proof is heard.

What a build derives anew takes the place of what is stored, unless points of the stored proof refute it, it
says less, or there is nothing new because time did not suffice. Then the stored entry is measured again at
the points of its own proof: one that does not hold there is of another call, and goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from pydantic import JsonValue

from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.catalogue.record import Catalogue, ClassResult, LibraryRecord, UnitResult
from forwardbook.pipeline.catalogue.share import shape
from forwardbook.pipeline.catalogue.standing import is_of_the_same, joined, missed, says_less
from forwardbook.pipeline.reprove.again import EntryAgain
from forwardbook.schema import Entry
from forwardbook.workspace import Database

NOT_AGAIN: Final = "was not proved this time"
STALE: Final = "measured again at points of its own proof, a class gave other numbers than are stored of it"

Measure = Callable[[Sequence[str]], Iterator[EntryAgain]]
"""Stored entries by key, measured again at the points of their proofs."""


@dataclass(frozen=True, slots=True)
class Contest:
    """A stored entry that what came of its class does not simply replace."""

    name: str
    key: str
    before: Entry
    fresh: Entry | None
    refuted: bool
    """Whether a point of the stored proof refutes what was derived anew."""
    why: str


@dataclass
class Settled:
    """The results as they go into the database, and what became of the stored entries in question."""

    results: list[UnitResult]
    stay: dict[str, str] = field(default_factory=dict)
    """Classes whose entries stay as they were, and why."""
    gone: list[str] = field(default_factory=list)
    """Classes of which nothing is proved any more: what was stored does not hold at its own points."""
    joined: list[str] = field(default_factory=list)
    """Classes whose new peaks took up a state that the stored proof has."""


def settled(
    results: Sequence[UnitResult], library: str, database: Database, catalogue: Catalogue, measure: Measure
) -> Settled:
    """Every stored entry in question measured at its own points; then whatever holds there is kept."""
    found = contests(results, database)
    verdicts = {one.key: one.state for one in measure([one.key for one in found])} if found else {}
    record = catalogue.libraries.get(library, LibraryRecord())
    before = {one.name: one for unit in record.units.values() for one in unit.classes}
    out = Settled(list(results))
    entries: dict[str, Entry | None] = {}
    classes: dict[str, ClassResult] = {}
    for one in found:
        if verdicts.get(one.key) == "different":
            if one.fresh is None:
                out.gone.append(one.name)
                lost = {"state": "wrong", "kind": "refuted", "reason": STALE, "digest": "", "same_as": ""}
                classes[one.name] = before[one.name].model_copy(update=lost)
            continue
        if one.refuted and one.fresh is not None and (both := joined(one.fresh, one.before)) is not None:
            out.joined.append(one.name)
            entries[one.name] = both
        elif one.name in before:
            out.stay[one.name] = one.why
            entries[one.name] = None
            classes[one.name] = before[one.name]
    out.results = [_with(one, entries, classes) for one in results]
    return out


def contests(results: Sequence[UnitResult], database: Database) -> list[Contest]:
    """The stored entries in question, in the order of their classes."""
    keys = database.keys_by_class()
    found: list[Contest] = []
    for result in results:
        for name in sorted({*result.entries, *result.stands} & keys.keys()):
            before = whole(database, keys[name])
            raw = result.entries.get(name)
            fresh = Entry.model_validate(raw) if raw is not None else None
            is_new = fresh is None or (is_of_the_same(fresh, before) and shape(fresh) != shape(before))
            if before.regimes and is_new:
                found.extend(_contest(name, keys[name], before, fresh))
    return found


def _contest(name: str, key: str, before: Entry, fresh: Entry | None) -> Iterator[Contest]:
    if fresh is None:
        yield Contest(name, key, before, None, False, NOT_AGAIN)
    elif points := missed(fresh, before):
        sizes = ", ".join(f"{one}={size}" for one, size in sorted(points[0].sizes.items()))
        yield Contest(name, key, before, fresh, True, f"what was derived anew is wrong at {sizes}")
    elif (less := says_less(fresh, before)) and not missed(before, fresh):
        yield Contest(name, key, before, fresh, False, f"what was derived anew {less}")


def _with(
    result: UnitResult, entries: Mapping[str, Entry | None], classes: Mapping[str, ClassResult]
) -> UnitResult:
    """The result with some entries and classes as they are settled."""
    stored = {name: raw for name, raw in result.entries.items() if entries.get(name, raw) is not None}
    changed = {name: one for name, one in entries.items() if one is not None and name in stored}
    stored |= {
        name: cast("dict[str, JsonValue]", one.model_dump(mode="json")) for name, one in changed.items()
    }
    told = tuple(classes.get(one.name, one) for one in result.record.classes)
    record = result.record.model_copy(update={"classes": told})
    return result.model_copy(update={"entries": stored, "record": record})
