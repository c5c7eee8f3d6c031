"""Entries as they were and the database as it is in; out a row for each with what became of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pydantic import JsonValue, ValidationError

from forwardbook.guard.change import class_change
from forwardbook.guard.regenerated import Row, state_of
from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.regenerate.derive import Outcome
from forwardbook.schema import Entry, Record
from forwardbook.workspace import Database, DatabaseError


class Before(Record):
    """An entry before the first of the runs, and why it was stale."""

    entry: dict[str, JsonValue]
    reasons: tuple[str, ...] = ()
    same_as: str | None = None
    """Where it led, if the formulas were another entry's."""

    def stored(self) -> Entry | None:
        """The entry as far as it decides whether it may lead there again; None where it was damaged."""
        entry = _entry(self)
        return entry.model_copy(update={"same_as": self.same_as}) if entry is not None else None


def rows(
    before: Mapping[str, Before],
    problems: Mapping[str, Outcome],
    database: Database,
    removed: Collection[str] = (),
) -> Iterator[Row]:
    """What became of each entry, in the order of their keys."""
    for key in sorted(before):
        yield _row(key, before[key], problems.get(key), database, key in removed)


def _row(key: str, before: Before, problem: Outcome | None, database: Database, is_removed: bool) -> Row:
    was = _entry(before)
    name = was.full_class_name if was is not None else str(before.entry.get("full_class_name", key))
    verdict = was.validation.verdict if was is not None else "unproved"
    if problem is not None:
        now = "gone" if problem.problem_kind == "gone" else "unproved"
        state = state_of(verdict, now, None)
        return Row(key, name, before.reasons, state, (verdict, now), None, problem.problem, is_removed)
    try:
        entry = whole(database, key)
    except (DatabaseError, KeyError) as error:
        return Row(key, name, before.reasons, "lost", (verdict, "gone"), None, str(error), is_removed)
    after = entry.validation.verdict
    change = class_change(key, was if was is not None else entry, entry, {}, before.reasons)
    return Row(key, name, before.reasons, state_of(verdict, after, change), (verdict, after), change)


def _entry(before: Before) -> Entry | None:
    try:
        return Entry.model_validate(before.entry)
    except ValidationError:
        return None
