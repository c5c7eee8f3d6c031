"""A name that does not exist and those that do in; a question for the one that was meant out."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str]) -> str:
    """`; did you mean X?`, or nothing where no name is near; the last part of a dotted name counts too."""
    names = list(known)
    near = get_close_matches(name, names, 1, 0.6)
    if not near:
        last = name.rpartition(".")[2]
        ends: dict[str, str] = {}
        for one in names:
            ends.setdefault(one.rpartition(".")[2], one)
        near = [ends[end] for end in get_close_matches(last, list(ends), 1, 0.75)]
    return f"; did you mean {near[0]}?" if near else ""
