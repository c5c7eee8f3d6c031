"""A database in; out what its entries say of libraries: how they were derived, which symbols mean nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from forwardbook.pipeline.catalogue.coverage import STATES, Share, coverage, share
from forwardbook.pipeline.catalogue.plan import NoSuchPackage, planned
from forwardbook.pipeline.catalogue.record import (
    Catalogue,
    ClassResult,
    LibraryRecord,
    State,
    UnitRecord,
)
from forwardbook.schema import PROVED, QUANTITIES
from forwardbook.workspace import Database

Raw = Mapping[str, object]
USUAL: Final = ("torch", "transformers")
"""Libraries that are told of where no catalogue was built and nobody names one."""
_SYMBOL: Final = re.compile(r"\{([^{}]+)\}")
_MADE: Final = re.compile(r"[su]\d+|x\d+")  # how engines call a size that nobody named
_EXAMPLES: Final = 5
WITHDRAWN: Final = "its entry is known to be wrong and was withdrawn; it was not derived again yet"
_STATES: Final[Mapping[str, State]] = {str(state): state for state in STATES}


@dataclass
class Stored:
    """What the entries of one library say, one added after the other."""

    derived: dict[str, tuple[str, ...]] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    formulas: int = 0
    nameless: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, key: str, raw: Raw, holder: Raw) -> None:
        """One entry; a copy says what its `holder` does, whose formulas count once."""
        name = str(raw.get("full_class_name"))
        self.derived[name] = tuple(cast("list[str]", holder.get("derived_by") or []))
        self.verdicts[name] = str(cast(Raw, holder.get("validation") or {}).get("verdict", "unproved"))
        parameters = cast("Sequence[Raw]", raw.get("parameters") or [])
        known = {str(each["name"]) for each in parameters if _explained(each)}
        for text in _formulas(raw):
            self.formulas += 1
            unknown = sorted(set(_SYMBOL.findall(text)) - known)
            self.nameless += bool(unknown)
            if unknown and len(self.examples) < _EXAMPLES:
                self.examples.append(f"{key}: {', '.join(unknown)}")


def coverage_with(catalogue: Catalogue, database: Database, library: str = "") -> list[Share]:
    """The figures of each library of the catalogue; where none was built, of those that the database knows.

    Then the classes are found by reading, and one without an entry was not tried.

    Raises:
        NoSuchPackage: for a library that was asked for, is in neither, and is not installed.
    """
    stored = _stored(database)
    told = coverage(as_stored(catalogue, stored), library)
    known = {one.library for one in told}
    others = [library] if library else sorted({*(() if known else USUAL), *stored})
    for name in (name for name in others if name not in known):
        try:
            told.append(replace(share(name, _found(name, stored.get(name, Stored()))), built=False))
        except NoSuchPackage:
            if library:
                raise
    return [with_stored(one, stored.get(one.library, Stored())) for one in sorted(told, key=_library)]


def as_stored(catalogue: Catalogue, stored: Mapping[str, Stored]) -> Catalogue:
    """The catalogue with the verdicts that entries have now.

    A class that was proved and has no entry any more was refuted since, and its entry withdrawn.
    """
    libraries = {
        name: library.model_copy(
            update={"units": {unit: _unit(one, stored[name]) for unit, one in library.units.items()}}
        )
        if name in stored
        else library
        for name, library in catalogue.libraries.items()
    }
    return catalogue.model_copy(update={"libraries": libraries})


def _unit(unit: UnitRecord, stored: Stored) -> UnitRecord:
    return unit.model_copy(update={"classes": tuple(_current(one, stored) for one in unit.classes)})


def _current(one: ClassResult, stored: Stored) -> ClassResult:
    verdict = _STATES.get(stored.verdicts.get(one.name, ""))
    if one.state in PROVED and verdict is None:
        return one.model_copy(update={"state": "wrong", "kind": "refuted", "reason": WITHDRAWN})
    if verdict is None or verdict == one.state or PROVED.isdisjoint((verdict, one.state)):
        return one  # why nothing is proved the catalogue knows better
    return one.model_copy(update={"state": verdict, "kind": "", "reason": "", "way": "the database"})


def _library(one: Share) -> str:
    return one.library


def _found(library: str, stored: Stored) -> LibraryRecord:
    """Every class that reading finds; of those without an entry nobody knows whether they can be reached."""
    plan = planned(library)
    units = {}
    for unit in plan.units:
        classes = tuple(_result(one.full_name, one.defines, stored) for one in unit.classes)
        units[unit.name] = UnitRecord(stamp="", classes=classes)
    return LibraryRecord(version=plan.version, units=units)


def _result(name: str, defines: bool, stored: Stored) -> ClassResult:
    verdict = stored.verdicts.get(name, "")
    if (state := _STATES.get(verdict)) is not None:
        return ClassResult(name=name, defines=defines, state=state, way="the database")
    return ClassResult(
        name=name, defines=defines, state="unreached", kind="not tried", reason="no catalogue was built here"
    )


def _stored(database: Database) -> dict[str, Stored]:
    found: dict[str, Stored] = {}
    for key in database:
        head, raw = database.head(key), database.raw(key)
        target = head.same_as
        holder = database.raw(target) if target is not None and target in database else raw
        with database.reading(key):
            found.setdefault(head.library, Stored()).add(key, raw, holder)
    return found


def _explained(parameter: Raw) -> bool:
    """Whether a symbol has a place it comes from, or words, and is no name that an engine made up."""
    said = parameter.get("source") or parameter.get("meaning")
    return bool(said) and not _MADE.fullmatch(str(parameter["name"]))


def _formulas(raw: Raw) -> Iterator[str]:
    """Every quantity of every regime."""
    for regime in cast("Sequence[Raw]", raw.get("regimes") or []):
        for analysis in (cast(Raw, regime["flop_analysis"]), cast(Raw, regime["memory_analysis"])):
            yield from (str(analysis[name]) for name in QUANTITIES if name in analysis)


def with_stored(one: Share, stored: Stored) -> Share:
    """The figures of a library with what its entries say."""
    exact = [set(by) for name, by in stored.derived.items() if stored.verdicts[name] == "exact"]
    return replace(
        one,
        symbolic_alone=sum(by == {"symbolic"} for by in exact),
        static_alone=sum(by == {"static"} for by in exact),
        both=sum({"symbolic", "static"} <= by for by in exact),
        analyst=sum("agent" in by for by in exact),
        formulas=stored.formulas,
        nameless=stored.nameless,
        nameless_examples=tuple(stored.examples),
    )
