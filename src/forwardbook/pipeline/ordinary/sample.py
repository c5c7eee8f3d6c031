"""Entries in; some of their classes drawn, each family looked at in a process of its own, findings out."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.apart import Ended, apart
from forwardbook.pipeline.ordinary.defaults import has_models
from forwardbook.pipeline.ordinary.family import SECONDS, Family, Findings, findings_of
from forwardbook.pipeline.spread import Spread


class NothingToDraw(ForwardbookError):
    """There are no entries of which some could be drawn."""


def drawn(names: Sequence[str], count: int, seed: int) -> list[str]:
    """So many of the names, in their order.

    Raises:
        NothingToDraw: there is none.
    """
    if not names:
        raise NothingToDraw(
            "drawing classes for ordinary points: there are no entries of own costs and calls "
            "(module_db/composed); build them first"
        )
    every = sorted(set(names))
    return sorted(random.Random(seed).sample(every, min(count, len(every))))


def families_of(
    classes: Sequence[str], folders: Sequence[Path], seconds: float = SECONDS
) -> tuple[list[Family], list[str]]:
    """The families of classes by their modules; classes of modules without models are guests in each."""
    members: dict[str, list[str]] = {}
    guests: list[str] = []
    for name in classes:
        module = name.rpartition(".")[0]
        if module in members or has_models(module):
            members.setdefault(module, []).append(name)
        else:
            guests.append(name)
    told = tuple(folders)
    families = [Family(module, tuple(some), tuple(guests), told, seconds) for module, some in members.items()]
    return families, guests


def each_family(
    classes: Sequence[str], folders: Sequence[Path], jobs: int = 1, seconds: float = SECONDS
) -> Iterator[Findings]:
    """What each family showed as it is known; then classes of no family that none of them called."""
    families, guests = families_of(classes, folders, seconds)
    called: set[str] = set()
    for found in _spread(families, jobs):
        called |= {one.full_class_name for one in found.answers}
        yield found
    left = [name for name in guests if name not in called]
    alone = Family("", (), (), tuple(folders), seconds)
    yield from _spread([replace(alone, name=name, classes=(name,)) for name in left], jobs)


def _spread(families: Sequence[Family], jobs: int) -> Iterator[Findings]:
    """So many families at once, each in a process of its own."""
    for found in Spread(jobs)(partial(apart, findings_of), families):
        if isinstance(found, Ended):
            yield Findings(found.task.name, unreached=dict.fromkeys(found.task.classes, found.why))
        else:
            yield found
