"""A package of six modules, and what stands in for the processes that prove their classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from forwardbook.pipeline.catalogue.build import Building, build
from forwardbook.pipeline.catalogue.journal import Journal
from forwardbook.pipeline.catalogue.merge import merge
from forwardbook.pipeline.catalogue.plan import Plan, planned
from forwardbook.pipeline.catalogue.record import (
    CATALOGUE_NAME,
    UNIT,
    ClassResult,
    UnitRecord,
    UnitResult,
    WayResult,
)
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace

Make = Callable[..., Entry]
MODULE = "from torch import nn\n\n\nclass {0}(nn.Module):\n    def forward(self, x):\n        return x\n"
NAMES = ("Ant", "Bee", "Cat", "Dog", "Elk", "Fox")


def written(folder: Path) -> None:
    """The package of six modules, one class each."""
    package = folder / "zoo_of_parts"
    package.mkdir()
    for name in NAMES:
        (package / f"{name.lower()}.py").write_text(MODULE.format(name), encoding="utf-8")


class Child:
    """In place of child processes: proves everything, and may die after some."""

    def __init__(self, make_entry: Make, dies_after: int = 10**6) -> None:
        self._make, self._left = make_entry, dies_after
        self.asked: list[str] = []

    def __call__(self, request: Request, limits: Limits, worker: str) -> Response:
        if self._left == 0:
            raise KeyboardInterrupt
        self._left -= 1
        self.asked.append(request.target)
        classes = tuple(ClassResult(name=name, state="exact", digest="same") for name in request.wanted)
        entries = {name: self._entry(name) for name in request.wanted}
        record = UnitRecord(stamp="", classes=classes, ways=(WayResult(name="by itself", reached=1),))
        result = UnitResult(unit=request.target, library="zoo_of_parts", record=record, entries=entries)
        return Response(diagnostics={UNIT: result.model_dump(mode="json")})

    def _entry(self, name: str) -> dict[str, object]:
        made = self._make(name.rpartition(".")[2])
        file = f"{name.rpartition('.')[0].replace('.', '/')}.py"
        place = made.code_location.model_copy(update={"file": file})
        update = {"full_class_name": name, "library": "zoo_of_parts", "code_location": place}
        return made.model_copy(update=update).model_dump(mode="json")


def built(folder: Path, child: Child, plan: Plan | None = None, force: bool = False) -> None:
    """A build from beginning to end."""
    workspace = Workspace(folder)
    plan = plan or planned("zoo_of_parts")
    done = list(build(plan, workspace, Building(run=child, force=force)))
    merge(plan, [one.result for one in done], workspace, whole=True)
    Journal(workspace, plan.library).clear(unit.name for unit in plan.units)


def files(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "module_db.json").read_bytes(), (folder / CATALOGUE_NAME).read_bytes()
