"""A plan in; out every unit's result: a child process each, kept as it comes, resumed where a build ended."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import get_args

from pydantic import ValidationError

from forwardbook.analyzers.reader import Outlines, ReaderError, glance_at
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.one import SEED
from forwardbook.pipeline.catalogue.children import Run, children
from forwardbook.pipeline.catalogue.journal import Journal
from forwardbook.pipeline.catalogue.plan import Plan, Unit
from forwardbook.pipeline.catalogue.record import (
    OF_USERS,
    UNIT,
    Catalogue,
    ClassResult,
    Kind,
    UnitRecord,
    UnitResult,
    WayResult,
    read_catalogue,
)
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import ProblemKind, Request, Response
from forwardbook.pipeline.child.response_entry import is_of
from forwardbook.pipeline.versions import differing
from forwardbook.schema import PROVED, Entry
from forwardbook.workspace import Database, DatabaseError, Workspace

WORKER = "forwardbook.pipeline.catalogue.work:work"
BUDGET = 240.0  # seconds of processor time for one unit
USUAL = 24  # classes of such a unit, as BERT's is; what holds more (three models in one) has more time
MEMORY_GB = 3.0
EXAMPLES = 12  # classes read in advance, for what all sources have in common
ENDED = frozenset({"timeout", "crash", "memory", "fork"})  # kinds of results that say nothing of a class
GRACE = 4.0  # how much slower than its processor time a unit may be on a busy machine


@dataclass(frozen=True)
class Building:
    """How a build is done: at once, with what limits, and from which seed sizes are drawn."""

    jobs: int = 1
    budget: float = BUDGET
    memory_gb: float = MEMORY_GB
    seed: int = SEED
    points: int = 3
    force: bool = False
    retry: frozenset[str] = frozenset()
    """Kinds of reason for which classes are worked on anew; those that have another result keep it."""
    run: Run | None = None
    """How a unit's process is had; where it is not said, forked from one that has imported everything."""

    def budget_of(self, classes: int) -> float:
        """Seconds of processor time for a unit with so many classes."""
        return self.budget * max(1.0, classes / USUAL)

    def limits(self, budget: float) -> Limits:
        """The limits of one child, by the clock: it ends itself before."""
        return Limits(self.memory_gb, GRACE * budget + 120)


class UnknownKind(ForwardbookError):
    """A kind of failure that no class has and no stage gives."""


@dataclass(frozen=True, slots=True)
class Done:
    """One unit: its result, and whether that was known before."""

    result: UnitResult
    known: bool


def build(
    plan: Plan, workspace: Workspace, how: Building, started: Callable[[str], None] = lambda unit: None
) -> Iterator[Done]:
    """Each unit's result as it is had. Whatever ends the iteration, what was yielded is on disk.

    The database is as it was until `catalogue_merge.merge` takes the results in.

    Raises:
        WorkspaceError: where another process builds the same here.
        UnknownKind: where classes are to be tried again that failed as none does.
    """
    database, catalogue = workspace.load(), read_catalogue(workspace)
    _check_kinds(how.retry, plan.library, catalogue)
    journal = Journal(workspace, plan.library)
    known = _with_formulas(database)
    todo: list[Unit] = []
    again: dict[str, UnitRecord] = {}
    for unit in plan.units:
        kept = None if how.force else journal.get(unit.name, unit.stamp)
        before = None if how.force or kept is not None else _before(unit, catalogue, known)
        if before is not None and any(one.kind in how.retry for one in before.record.classes):
            again[unit.name] = before.record
            todo.append(unit)
        elif (result := kept or before) is not None:
            yield Done(result, True)
        else:
            todo.append(unit)
    todo.sort(
        key=lambda unit: (-len(unit.classes), unit.name)
    )  # the long ones first, so that none is left last
    settled = {} if how.force else _settled(database, known, todo, plan.library)
    of_users = _of_users(database, todo)

    def one(unit: Unit, run: Run) -> UnitResult:
        started(unit.name)
        recorded = _recorded(unit, catalogue)
        standing = _standing(recorded, known)
        result = _worked(unit, settled, how, how.run or run, again.get(unit.name), standing, of_users)
        result = _with_types(result, recorded)
        journal.keep(result)  # here, so that what was done while others were told is kept too
        return result

    forks = children(plan.library, len(todo), how.jobs, _examples(todo))
    with journal.alone(), forks as run, ThreadPoolExecutor(how.jobs) as pool:
        waiting: set[Future[UnitResult]] = {pool.submit(one, unit, run) for unit in todo}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield Done(future.result(), False)
        finally:
            for future in waiting:
                future.cancel()


def _check_kinds(wanted: frozenset[str], library: str, catalogue: Catalogue) -> None:
    record = catalogue.libraries.get(library)
    units = record.units.values() if record is not None else ()
    found = Counter(one.kind for unit in units for one in unit.classes if one.kind)
    if unknown := sorted(wanted - found.keys() - set(get_args(ProblemKind)) - set(get_args(Kind))):
        told = ", ".join(f"{kind!r} ({count})" for kind, count in found.most_common()) or "nothing yet"
        raise UnknownKind(
            f"trying classes of {library} again: none fails as {', '.join(map(repr, unknown))}\n"
            f"  catalogue.json has: {told}"
        )


def _examples(units: Sequence[Unit]) -> list[str]:
    """A class of some units, drawn evenly: what reading them takes, reading the others takes as well."""
    ordered = sorted(units, key=lambda unit: unit.name)
    return [unit.classes[0].full_name for unit in ordered[:: max(1, len(ordered) // EXAMPLES)]]


def _recorded(unit: Unit, catalogue: Catalogue) -> UnitRecord | None:
    """What the catalogue says of the unit in this state of its sources."""
    library = catalogue.libraries.get(unit.library)
    record = library.units.get(unit.name) if library is not None else None
    return record if record is not None and record.stamp == unit.stamp else None


def _with_formulas(database: Database) -> dict[str, str]:
    """The keys of classes whose entries have formulas, their own or another's.

    A copy whose holder came to say something else may have none any more, whatever the catalogue says of it.
    """
    found = database.keys_by_class()
    heads = {name: database.head(key) for name, key in found.items()}
    return {n: key for n, key in found.items() if heads[n].same_as or heads[n].generated_class_name}


def _before(unit: Unit, catalogue: Catalogue, known: Mapping[str, str]) -> UnitResult | None:
    """The unit's result in this state of its sources, as the catalogue has it."""
    record = _recorded(unit, catalogue)
    if record is None:
        return None
    proved = (one.name for one in record.classes if one.state in PROVED)
    whole = {one.name for one in record.classes} == {one.full_name for one in unit.classes}
    if not whole or any(name not in known for name in proved):
        return None
    return UnitResult(unit=unit.name, library=unit.library, record=record)


def _settled(
    database: Database, known: Mapping[str, str], todo: list[Unit], library: str
) -> dict[str, ClassResult]:
    """Classes whose entry says what a run would say now: the same code, the same versions of all."""
    found: dict[str, ClassResult] = {}
    sources = Outlines()
    for one in (one for unit in todo for one in unit.classes if one.full_name in known):
        with contextlib.suppress(DatabaseError, ReaderError):
            entry = database[known[one.full_name]]
            holder = database.resolved(known[one.full_name])[1]
            verdict = holder.validation.verdict
            if verdict not in PROVED or library not in entry.versions:
                continue  # a package without a version: what else its formulas depend on may have changed
            if differing(entry.versions, database.rules_version, holder.operations):
                continue
            if glance_at(one.name, one.file, sources).source_hash == entry.source_hash:
                found[one.full_name] = ClassResult(
                    name=one.full_name, defines=one.defines, state=verdict, way="the database"
                )
    return found


def _of_users(database: Database, todo: list[Unit]) -> dict[str, ClassResult]:
    """Classes that were analysed as a person said: these entries are nobody's to derive otherwise."""
    keys, found = database.keys_by_class(), dict[str, ClassResult]()
    for one in (one for unit in todo for one in unit.classes if keys.get(one.full_name) in database.own):
        with contextlib.suppress(DatabaseError):
            entry = database[keys[one.full_name]]
            if entry.given is not None:
                found[one.full_name] = ClassResult(
                    name=one.full_name, defines=one.defines, state=entry.validation.verdict, way=OF_USERS
                )
    return found


def _standing(recorded: UnitRecord | None, known: Mapping[str, str]) -> dict[str, ClassResult]:
    """What the catalogue has as proved in this state of the sources, where the database has it too."""
    classes = recorded.classes if recorded is not None else ()
    return {one.name: one for one in classes if one.state in PROVED and one.name in known}


def _worked(
    unit: Unit,
    settled: Mapping[str, ClassResult],
    how: Building,
    run: Run,
    again: UnitRecord | None,
    standing: Mapping[str, ClassResult],
    of_users: Mapping[str, ClassResult],
) -> UnitResult:
    if again is not None:
        settled = {one.name: one for one in again.classes if one.kind not in how.retry}
    settled = {**settled, **of_users}
    wanted = tuple(one.full_name for one in unit.classes if one.full_name not in settled)
    known = [settled[one.full_name] for one in unit.classes if one.full_name in settled]
    result = UnitResult(unit=unit.name, library=unit.library, record=UnitRecord(stamp=unit.stamp))
    if wanted:
        request = Request(
            target=unit.name,
            wanted=wanted,
            budget=how.budget_of(len(wanted)),
            seed=how.seed,
            points=how.points,
            roots=_roots(unit),
        )
        result = _result(unit, wanted, run(request, how.limits(request.budget), WORKER))
    defines = {one.full_name: one.defines for one in unit.classes}
    earlier = {one.name: one for one in again.classes} if again is not None else standing
    now = [
        one.model_copy(update={"defines": defines.get(one.name, True)}) for one in result.record.classes
    ]
    stands = tuple(one.name for one in now if _stands(standing.get(one.name), one))
    classes = [_told(earlier.get(one.name), one) for one in now]
    ordered = tuple(sorted([*classes, *known], key=lambda one: one.name))
    ways = result.record.ways if again is None else _together(again.ways, result.record.ways)
    told = {"stamp": unit.stamp, "classes": ordered, "ways": ways}
    record = result.record.model_copy(update=told)
    return result.model_copy(update={"record": record, "stands": stands})


def _stands(before: ClassResult | None, now: ClassResult) -> bool:
    """Whether what is proved of a class stays so: a try that proves nothing unsays no proof."""
    return before is not None and before.state in PROVED and now.state in ("unproved", "unreached")


def _told(before: ClassResult | None, now: ClassResult) -> ClassResult:
    """What is said of a class now; a later try unsays no proof, and one that was ended no call either."""
    if before is not None and _stands(before, now):
        return before
    if before is None or now.kind not in ENDED:
        return now
    return before if before.state != "unreached" and now.state == "unreached" else now


def _with_types(result: UnitResult, before: UnitRecord | None) -> UnitResult:
    """The result with the models of files of which nothing was wanted this time, as they were recorded."""
    types = (before.model_types if before is not None else {}) | result.record.model_types
    return result.model_copy(update={"record": result.record.model_copy(update={"model_types": types})})


def _together(before: Sequence[WayResult], now: Sequence[WayResult]) -> tuple[WayResult, ...]:
    """Each way once, as it reached most: a later try of fewer classes does not unsay what an earlier said."""
    found = {one.name: one for one in before}
    for one in now:
        if one.name not in found or one.reached >= found[one.name].reached:
            found[one.name] = one
    return tuple(found.values())


def _roots(unit: Unit) -> tuple[str, ...]:
    """The folder to import a user's own package from; installed ones need none."""
    first = unit.classes[0]
    depth = first.module.count(".") + (2 if first.file.name == "__init__.py" else 1)
    root = str(first.file.parents[depth - 1])
    return () if "-packages" in root else (root,)


def _result(unit: Unit, wanted: tuple[str, ...], response: Response) -> UnitResult:
    """What the child gave back; where its process ended before, every class with the reason for that."""
    if response.problem is None and (found := _of_unit(response, unit, wanted)) is not None:
        return found
    lines = response.plainly(unit.name).splitlines()
    place = next((line.strip().removeprefix("it was ") for line in lines[1:] if " at " in line), "")
    classes = tuple(
        ClassResult(
            name=name,
            state="unreached",
            kind=response.problem_kind or "internal",
            reason=lines[0].partition(": ")[2] or lines[0],
            place=place,
        )
        for name in wanted
    )
    return UnitResult(unit=unit.name, library=unit.library, record=UnitRecord(stamp="", classes=classes))


def _of_unit(response: Response, unit: Unit, wanted: Collection[str]) -> UnitResult | None:
    """The result of a unit, if it is one of its own classes and their entries hold; else None."""
    try:
        found = UnitResult.model_validate(response.diagnostics.get(UNIT))
        entries = {name: Entry.model_validate(raw) for name, raw in found.entries.items()}
    except ValidationError:
        return None
    named = {*entries, *(one.name for one in found.record.classes), *found.stands} <= {*wanted}
    of_unit = (found.unit, found.library) == (unit.name, unit.library)
    return found if of_unit and named and all(is_of(one, name) for name, one in entries.items()) else None
