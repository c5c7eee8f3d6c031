"""Stale entries that a catalogue reached through whole models in; out that way gone again, unit by unit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.catalogue.build import Building, build
from forwardbook.pipeline.catalogue.children import Run
from forwardbook.pipeline.catalogue.journal import Journal
from forwardbook.pipeline.catalogue.merge import merge
from forwardbook.pipeline.catalogue.plan import planned
from forwardbook.pipeline.catalogue.record import UnitResult, read_catalogue
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.regenerate.derive import Outcome
from forwardbook.pipeline.regenerate.stale import Stale
from forwardbook.pipeline.spread import Spread
from forwardbook.profiling.raised import first_line_kept
from forwardbook.schema import PROVED
from forwardbook.workspace import Workspace

Question = tuple[Request, Limits, str]
Told = Callable[[str, int, int], None]


@dataclass
class Rebuilt:
    """What kept classes from being proved, by key, and the keys for which there was no time."""

    problems: dict[str, Outcome] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def of_catalogue(found: Sequence[Stale], workspace: Workspace) -> list[Stale]:
    """The stale entries of the catalogue: nobody gave anything to build them or proposed their formulas."""
    libraries = read_catalogue(workspace).libraries.values()
    units = chain.from_iterable(library.units.values() for library in libraries)
    names = {one.name for unit in units for one in unit.classes}
    return [
        one
        for one in found
        if one.entry.full_class_name in names and one.entry.given is None and one.entry.proposal is None
    ]


def rebuild(
    found: Sequence[Stale], workspace: Workspace, spread: Spread, told: Told, until: float = float("inf")
) -> Rebuilt:
    """Work on every unit that holds one of the classes, and merge what came of it into the database.

    Results of units are kept as they come: what an interrupted run did is not done again.
    """
    rebuilt = Rebuilt()
    for library in dict.fromkeys(one.entry.library for one in found):
        ours = [one for one in found if one.entry.library == library]
        try:
            _library(library, ours, workspace, spread, told, until, rebuilt)
        except ForwardbookError as error:
            _note(rebuilt, ours, {}, str(error), "gone")
    return rebuilt


def _library(
    library: str,
    found: Sequence[Stale],
    workspace: Workspace,
    spread: Spread,
    told: Told,
    until: float,
    rebuilt: Rebuilt,
) -> None:
    names = {one.entry.full_class_name for one in found}
    whole = planned(library)
    units = tuple(unit for unit in whole.units if names & {one.full_name for one in unit.classes})
    plan = replace(whole, units=units)
    results: list[UnitResult] = []
    for done in build(plan, workspace, Building(jobs=spread.width(), run=_run_on(spread))):
        results.append(done.result)
        told(f"worked on {done.result.unit}", len(results), len(units))
        if time.monotonic() > until:
            break
    merge(plan, results, workspace, whole=False)
    journal = Journal(workspace, library)
    for one in results:
        journal.clear([one.unit])
    worked = {one.unit for one in results}
    late = {c.full_name for unit in units if unit.name not in worked for c in unit.classes}
    rebuilt.left += [one.key for one in found if one.entry.full_class_name in late]
    reasons = {
        one.name: f"{one.kind}: {one.reason}" if one.kind else one.reason
        for result in results
        for one in result.record.classes
        if one.state not in PROVED
    }
    _note(rebuilt, [one for one in found if one.entry.full_class_name in reasons], reasons, "", "unproved")
    known = {one.full_name for unit in units for one in unit.classes}
    gone = [one for one in found if one.entry.full_class_name not in known]
    _note(rebuilt, gone, {}, f"{library} has no such class any more", "gone")


def _note(
    rebuilt: Rebuilt, found: Iterable[Stale], reasons: dict[str, str], otherwise: str, kind: str
) -> None:
    for one in found:
        name = one.entry.full_class_name
        problem = reasons.get(name, otherwise) or "it was not proved"
        rebuilt.problems[one.key] = Outcome(
            key=one.key, full_class_name=name, problem=problem, problem_kind=kind
        )


def _run_on(spread: Spread) -> Run:
    if not spread.cluster:
        return run_child

    def run(request: Request, limits: Limits, worker: str) -> Response:
        [response] = Spread(cluster=spread.cluster)(_answer, [(request, limits, worker)])
        return response

    return run


def _answer(question: Question) -> Response:
    try:
        return run_child(*question)
    except Exception as error:  # noqa: BLE001 - on a cluster whoever waits would wait for ever
        return Response(problem=first_line_kept(error), problem_kind="internal")
