"""A plan and a database in; out the totals of each model type: measured, by formula, summed over the tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from functools import partial
from typing import Final, cast

from pydantic import JsonValue, TypeAdapter, ValidationError

from forwardbook.pipeline.catalogue.children import Run, children
from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.catalogue.plan import Plan, Unit
from forwardbook.pipeline.catalogue.record import (
    Catalogue,
    LibraryRecord,
    ModelTotals,
    UnitRecord,
    read_catalogue,
    write_catalogue,
)
from forwardbook.pipeline.catalogue.totals_work import TOTALS
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.spread import Spread
from forwardbook.workspace import Database, Workspace

WORKER: Final = "forwardbook.pipeline.catalogue.totals_work:work"
BUDGET: Final = 120.0  # seconds of processor time for one unit
MEMORY_GB: Final = 3.0
_LIMITS: Final = Limits(MEMORY_GB, 4 * BUDGET + 120)

Totals = dict[str, ModelTotals]
_TOTALS: Final = TypeAdapter(Totals)


def totals(
    plan: Plan, database: Database, catalogue: Catalogue, spread: Spread
) -> Iterator[tuple[Unit, Totals]]:
    """The totals of the model types of each unit that has an entry in the database, as they are had.

    The catalogue says in which model a class was derived: what its formulas name are fields of that one's
    config, and the same name may be another size in the config of a part.
    """
    record = catalogue.libraries.get(plan.library, LibraryRecord())
    kinds = {name: kind for unit in record.units.values() for name, kind in _kinds(unit).items()}
    keys = {
        database.head(key).full_class_name: key
        for key in database
        if database.head(key).library == plan.library
    }
    units = [unit for unit in plan.units if any(one.full_name in keys for one in unit.classes)]
    shared = {name: key for name, key in keys.items() if not name.startswith(f"{plan.library}.models.")}
    # what a cluster is handed must not hold processes of this machine
    forks = nullcontext(run_child) if spread.cluster else children(plan.library, len(units), spread.jobs)
    with forks as run:
        of_unit = partial(_of_unit, database=database, keys=keys, shared=shared, kinds=kinds, run=run)
        yield from spread(of_unit, units)


def _kinds(unit: UnitRecord) -> dict[str, str]:
    """The model type of the way by which each class was reached."""
    ways = {way.name: way.model_type for way in unit.ways}
    return {one.name: ways[one.way] for one in unit.classes if ways.get(one.way)}


def keep(plan: Plan, found: Totals, workspace: Workspace) -> None:
    """Put totals into the catalogue, those of the same units in their place."""
    catalogue = read_catalogue(workspace)
    library = catalogue.libraries.get(plan.library, LibraryRecord(version=plan.version))
    units = {unit.name for unit in plan.units}
    kept = {name: one for name, one in library.totals.items() if one.unit not in units}
    record = library.model_copy(update={"totals": dict(sorted({**kept, **found}.items()))})
    write_catalogue(
        catalogue.model_copy(update={"libraries": {**catalogue.libraries, plan.library: record}}), workspace
    )


def _of_unit(
    unit: Unit,
    database: Database,
    keys: dict[str, str],
    shared: dict[str, str],
    kinds: dict[str, str],
    run: Run,
) -> tuple[Unit, Totals]:
    wanted = [one.full_name for one in unit.classes]
    taken = {name: keys[name] for name in wanted if name in keys} | shared
    entries = {
        # that a copy's formulas are another's is told: its lines are so many further, or stand elsewhere
        key: whole(database, key).model_dump(mode="json") | {"same_as": database.head(key).same_as}
        for key in taken.values()
    }
    request = Request(
        target=unit.name,
        wanted=tuple(wanted),
        budget=BUDGET,
        stored=cast("dict[str, JsonValue]", entries),
        kinds={name: kinds[name] for name in wanted if name in kinds},
    )
    response = run(request, _LIMITS, WORKER)
    if response.problem is None:
        with suppress(ValidationError):
            return unit, _TOTALS.validate_python(response.diagnostics.get(TOTALS))
    problem = response.plainly(unit.name).partition("\n")[0]
    return unit, {unit.name: ModelTotals(unit=unit.name, model="", problem=problem)}
