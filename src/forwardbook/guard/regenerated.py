"""Entries before and after a regeneration in; what became of each out: changed, newly exact, lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

from forwardbook.guard.as_json import change_json
from forwardbook.guard.as_markdown import class_markdown, coded, escaped
from forwardbook.guard.change import ClassChange
from forwardbook.schema import PROVED

State = Literal["newly exact", "changed", "lost", "open", "same"]
STATES: Final[dict[State, str]] = {
    "lost": "Proved before, and not any more",
    "changed": "Other formulas",
    "newly exact": "Newly proved",
    "open": "Still not proved",
    "same": "Proved again, the same",
}
"""Each state and its heading, what a person must look at first."""
FULL: Final = 60
"""Classes that Markdown shows in full; JSON has all."""


@dataclass(frozen=True, slots=True)
class Row:
    """One entry that was stale: why, what became of it, and the problem that kept it from being derived."""

    key: str
    full_class_name: str
    reasons: tuple[str, ...]
    state: State
    verdicts: tuple[str, str]
    change: ClassChange | None = None
    problem: str = ""
    is_removed: bool = False


@dataclass(frozen=True, slots=True)
class Regenerated:
    """A whole regeneration; `fresh` entries were not touched."""

    rows: tuple[Row, ...] = ()
    fresh: int = 0
    notes: tuple[str, ...] = ()
    """What is to be known beside: entries that wait for a model, or that cannot be read."""

    def of(self, state: State) -> list[Row]:
        """The rows of one state."""
        return [row for row in self.rows if row.state == state]


def state_of(before: str, after: str, change: ClassChange | None) -> State:
    """What became of an entry with these verdicts; without a change it could not be derived."""
    if before in PROVED and (after not in PROVED or change is None):
        return "lost"
    if change is None or after not in PROVED:
        return "open"
    if before not in PROVED:
        return "newly exact"
    return "changed" if change.is_changed else "same"


def summary(found: Regenerated) -> str:
    """One sentence with the number of each."""
    if not found.rows:
        return f"nothing is stale: {found.fresh} entries say what an analysis would say now"
    counts = [f"{len(found.of(state))} {state}" for state in STATES if found.of(state)]
    return f"{len(found.rows)} entries were stale: {', '.join(counts)}; {found.fresh} were fresh"


def regenerated_json(found: Regenerated) -> dict[str, JsonValue]:
    """Everything, as values for JSON."""
    return {
        "format_version": 1,
        "summary": summary(found),
        "fresh": found.fresh,
        "counts": {state: len(found.of(state)) for state in STATES},
        "entries": [_row(row) for row in found.rows],
        "notes": [*found.notes],
    }


def _row(row: Row) -> JsonValue:
    return {
        "key": row.key,
        "class": row.full_class_name,
        "state": row.state,
        "reasons": [*row.reasons],
        "verdict": {"before": row.verdicts[0], "after": row.verdicts[1]},
        "problem": row.problem,
        "removed": row.is_removed,
        "change": change_json(row.change) if row.change is not None and row.change.is_changed else None,
    }


def regenerated_markdown(found: Regenerated) -> str:
    """A report for the pull request that brings the database up to date; the same input, the same text."""
    parts = ["# Regenerated formulas", f"{escaped(summary(found))}."]
    parts += [f"- {escaped(note)}" for note in found.notes]
    room = FULL
    for state, heading in STATES.items():
        rows = found.of(state)
        if rows:
            parts += [f"## {heading}: {len(rows)}", *_section(state, rows, room)]
            room = max(room - len(rows), 0)
    return "\n\n".join(parts) + "\n"


def _section(state: State, rows: Sequence[Row], room: int) -> Iterator[str]:
    if state == "same":
        yield _listed(rows)
        return
    for row in rows[:room]:
        if row.change is not None and row.change.is_changed:
            yield from class_markdown(row.change, formulas=True)
        else:
            yield f"### {coded(row.full_class_name)}"
            yield escaped("; ".join(row.reasons))
        if row.problem:
            removed = " Its entry was removed." if row.is_removed else ""
            yield f"{escaped(row.problem.splitlines()[0])}{removed}"
    if len(rows) > room:
        yield _listed(rows[room:])


def _listed(rows: Sequence[Row]) -> str:
    shown = ", ".join(coded(row.full_class_name) for row in rows[:200])
    return shown + (f" and {len(rows) - 200} more" if len(rows) > 200 else "")
