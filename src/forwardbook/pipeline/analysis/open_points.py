"""What the engines found of a class in; what they leave open, and a model could settle, out."""

from __future__ import annotations

from typing import Final

from forwardbook.saying import DATA
from forwardbook.schema import Entry
from forwardbook.verdicts import disputes, said_by

ASKED: Final = frozenset({"unsupported", "forward", "timeout", "memory", "wrong"})
"""Kinds of problems of the engines that a person may have a model look into."""


def open_points(entry: Entry | None, problem: str = "", kind: str = "") -> tuple[str, ...]:
    """What the engines did not settle, a line each; nothing where a model has nothing to add."""
    found = [problem] if kind in ASKED else []
    if entry is not None and "agent" not in entry.derived_by:
        for row in entry.unresolved:
            found.append(f"{row.file}:{row.line}: {row.operation}: {row.reason}")
        found += [f"regime {regime.name}: {said_by(judge)}" for regime, judge in disputes(entry)]
        for one in entry.regimes:
            for assumed in one.assumptions:
                if assumed.startswith(DATA):
                    found.append(
                        f"regime {one.name} holds only if {assumed} is what a run without data takes"
                    )
    return tuple(dict.fromkeys(found))
