"""A plan and a database in; out the totals of each model type: measured, by formula, summed over the tree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, cast

from pydantic import JsonValue

from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.catalogue.plan import Plan, Unit
from forwardbook.pipeline.catalogue.record import (
    LibraryRecord,
    ModelTotals,
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


def totals(plan: Plan, database: Database, spread: Spread) -> Iterator[tuple[Unit, Totals]]:
    """The totals of the model types of each unit that has an entry in the database, as they are had."""
    keys = {
        database.head(key).full_class_name: key
        for key in database
        if database.head(key).library == plan.library
    }
    units = [unit for unit in plan.units if any(one.full_name in keys for one in unit.classes)]
    shared = {name: key for name, key in keys.items() if not name.startswith(f"{plan.library}.models.")}
    yield from spread(partial(_of_unit, database=database, keys=keys, shared=shared), units)


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
    unit: Unit, database: Database, keys: dict[str, str], shared: dict[str, str]
) -> tuple[Unit, Totals]:
    wanted = [one.full_name for one in unit.classes]
    taken = {name: keys[name] for name in wanted if name in keys} | shared
    entries = {key: whole(database, key).model_dump(mode="json") for key in taken.values()}
    request = Request(
        target=unit.name, wanted=tuple(wanted), budget=BUDGET, stored=cast("dict[str, JsonValue]", entries)
    )
    response = run_child(request, _LIMITS, WORKER)
    if response.problem is not None:
        problem = response.problem.splitlines()[0]
        return unit, {unit.name: ModelTotals(unit=unit.name, model="", problem=problem)}
    told = cast("dict[str, JsonValue]", response.diagnostics[TOTALS])
    return unit, {name: ModelTotals.model_validate(one) for name, one in told.items()}
