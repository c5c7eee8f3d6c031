"""Entries and texts of errors in; why a class is not proved out: a word, a place, a short sentence."""

from __future__ import annotations

import re
from typing import Final

from forwardbook.schema import Entry

LONGEST: Final = 300  # characters of a reason


def kind_of(entry: Entry) -> str:
    """Of what kind the reason is for which nothing was proved."""
    if any("no rule states" in row.reason for row in entry.unresolved):
        return "no rule"
    return "not proved"


def place_of(entry: Entry) -> str:
    """The file and line of the first thing unresolved, if any is known."""
    row = next(iter(entry.unresolved), None)
    return f"{row.file}:{row.line}" if row is not None and row.file else ""


def shortened(text: str) -> str:
    """A reason in one line of at most LONGEST characters."""
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."
