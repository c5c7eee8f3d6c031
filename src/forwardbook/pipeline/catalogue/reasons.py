"""Entries and texts of errors in; why a class is not proved out: a word, a place, a short sentence."""

from __future__ import annotations

import re
from typing import Final

from forwardbook.schema import Entry, Judge, Unresolved
from forwardbook.verdicts import disputes

LONGEST: Final = 300  # characters of a reason
DISPUTED: Final = "disputed"
"""Of what kind it is if a judge that shares no rule with the formulas disagrees."""


def kind_of(entry: Entry) -> str:
    """Of what kind the reason is for which nothing was proved."""
    if any("no rule states" in row.reason for row in entry.unresolved):
        return "no rule"
    return DISPUTED if next(disputes(entry), None) is not None else "not proved"


def place_of(entry: Entry) -> str:
    """The file and line of the first thing unresolved, or that a judge disputes, if any is known."""
    rows: list[Unresolved | Judge] = [*entry.unresolved, *(judge for _, judge in disputes(entry))]
    return next((f"{row.file}:{row.line}" for row in rows if row.file), "")


def shortened(text: str) -> str:
    """A reason in one line of at most LONGEST characters."""
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."
