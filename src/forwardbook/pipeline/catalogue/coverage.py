"""A catalogue in; out how many classes of each library were found, reached, proved, and why others not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from forwardbook.pipeline.catalogue.record import Catalogue, ClassResult, LibraryRecord
from forwardbook.schema import Verdict

STATES: tuple[Verdict, ...] = ("exact", "bounded", "assumed", "pinned", "wrong", "unproved")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why classes are not exact: the stage, the words with numbers left out, how many, and one place."""

    state: str
    kind: str
    reason: str
    classes: int
    place: str
    example: str


@dataclass(frozen=True, slots=True)
class Share:
    """How many classes of a library came how far; `defining` counts those with a forward() of their own."""

    library: str
    version: str
    found: int
    reached: int
    exact: int
    bounded: int
    assumed: int
    pinned: int
    wrong: int
    unproved: int
    defining: int
    defining_reached: int
    defining_exact: int
    model_types: int
    model_types_reached: int
    sharing: int
    untried: int
    """Of those found, in units that no build has worked on yet."""
    reasons: tuple[Reason, ...]
    built: bool = True
    """Whether a catalogue was built; else nobody tried the classes without an entry."""
    symbolic_alone: int = 0
    static_alone: int = 0
    both: int = 0
    """Of the exact classes, those that both derivations gave."""
    analyst: int = 0
    formulas: int = 0
    nameless: int = 0
    """Formulas with a symbol that no field of a configuration, attribute or input explains."""
    nameless_examples: tuple[str, ...] = ()


def coverage(catalogue: Catalogue, library: str = "") -> list[Share]:
    """The figures of every library of a catalogue, or of one."""
    chosen = {name: one for name, one in catalogue.libraries.items() if one.units and library in ("", name)}
    return [share(name, one) for name, one in sorted(chosen.items())]


def share(name: str, library: LibraryRecord) -> Share:
    """The figures of one library: every class that was found counts, whatever kept it from being reached.

    How formulas were derived and what their symbols mean is in the database: `stored` adds that.
    """
    classes = [one for unit in library.units.values() for one in unit.classes]
    states = Counter(one.state for one in classes)
    own = [one for one in classes if one.defines]
    types = _model_types(library)
    return Share(
        library=name,
        version=library.version,
        found=max(library.classes, len(classes)),
        reached=len(classes) - states["unreached"],
        exact=states["exact"],
        bounded=states["bounded"],
        assumed=states["assumed"],
        pinned=states["pinned"],
        wrong=states["wrong"],
        unproved=states["unproved"],
        defining=len(own),
        defining_reached=sum(one.state != "unreached" for one in own),
        defining_exact=sum(one.state == "exact" for one in own),
        model_types=len(types),
        model_types_reached=sum(types.values()),
        sharing=sum(bool(one.same_as) for one in classes),
        untried=max(library.classes - len(classes), 0),
        reasons=tuple(reasons(classes)),
    )


def _model_types(library: LibraryRecord) -> dict[str, bool]:
    """Whether a forward() that ran called a model of each type, by itself or within another."""
    units = library.units.values()
    reached = {one.name for unit in units for one in unit.classes if one.state != "unreached"}
    found: dict[str, bool] = {}
    for unit in units:
        for kind, models in unit.model_types.items():
            found[kind] = found.get(kind, False) or not reached.isdisjoint(models)
    return found


def reasons(classes: Iterable[ClassResult]) -> list[Reason]:
    """Why classes are not exact, those that touch most of them first."""
    groups: dict[tuple[str, str, str], list[ClassResult]] = {}
    for one in classes:
        if one.state != "exact":
            groups.setdefault((one.state, one.kind, alike(one.reason)), []).append(one)
    found = [
        Reason(state, kind, text, len(members), members[0].place, members[0].name)
        for (state, kind, text), members in groups.items()
    ]
    return sorted(found, key=lambda one: (-one.classes, one.state, one.kind, one.reason))


def alike(reason: str) -> str:
    """A reason with its numbers, quoted words and names of classes left out, so that like reasons meet.

    An attribute that is missing stays: of what is not there, another name is another reason.
    """
    quoted = r"(has no attribute '\w+')|'[^']*'|`[^`]*`"
    text = re.sub(quoted, lambda found: found[1] or "'...'", reason)
    text = re.sub(r"\b[A-Z]\w*(?=\.|\b)(?<!Error)(?<!Exception)", "X", text) if len(text) > 400 else text
    return re.sub(r"(?<![A-Za-z_])\d+", "N", text)[:160]
