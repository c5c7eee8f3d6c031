"""A unit of the catalogue in its process: what is told of classes that its time did not suffice for."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType

import pytest
from torch import nn

from forwardbook.analyzers.instances.adapters import Way, adapter_for
from forwardbook.analyzers.instances.adapters.plain import PlainAdapter
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.errors import FormulaError, ForwardbookError
from forwardbook.pipeline.catalogue import derive as derive_file
from forwardbook.pipeline.catalogue import work as work_file
from forwardbook.pipeline.catalogue.build import WORKER
from forwardbook.pipeline.catalogue.derive import Reached
from forwardbook.pipeline.catalogue.record import UNIT, ClassResult, UnitRecord, UnitResult
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.reprove.deep_runs import DeepRuns
from forwardbook.schema import Entry

SOURCE = """
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width: int = 8):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, hidden_states):
        return hidden_states * self.weight


class Wide(nn.Module):
    def forward(self, hidden_states):
        if hidden_states.dtype != torch.float32:
            raise TypeError("nothing but float32")
        return hidden_states + 1


class Refusing(nn.Module):
    def forward(self, hidden_states):
        raise ValueError("not today")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of one module, in the current folder."""
    name = "package_of_late_parts"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    (tmp_path / name / "parts.py").write_text(textwrap.dedent(SOURCE), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return name


def _done(package: str, budget: float, *names: str) -> UnitRecord:
    wanted = tuple(f"{package}.parts.{name}" for name in names)
    roots = (str(Path.cwd()),)
    request = Request(target=f"{package}.parts", wanted=wanted, budget=budget, seed=1, points=3, roots=roots)
    response = run_child(request, Limits(3.0, 120.0), WORKER)
    return UnitResult.model_validate(response.diagnostics[UNIT]).record


def _told(package: str, budget: float) -> dict[str, ClassResult]:
    record = _done(package, budget, "Scale", "Refusing")
    return {one.name.rpartition(".")[2]: one for one in record.classes}


def test_classes_that_a_plain_run_calls_are_reached_though_time_is_over(package: str) -> None:
    """Without any time for deriving, what a forward() calls is told apart from what none does."""
    told = _told(package, budget=0.001)

    assert ("unproved", "timeout") == (told["Scale"].state, told["Scale"].kind)
    assert "unreached" == told["Refusing"].state


def test_with_time_they_are_proved(package: str) -> None:
    """The same with time enough."""
    told = _told(package, budget=60.0)

    assert ("exact", "unreached") == (told["Scale"].state, told["Refusing"].state)


def test_why_there_is_float32_alone_is_told(package: str) -> None:
    """A class that refuses bfloat16 is exact in float32, and its way says what kept it from the other."""
    record = _done(package, 60.0, "Wide")

    assert ["exact"] == [one.state for one in record.classes]
    assert ["in bfloat16: TypeError"] == [way.reason for way in record.ways]


def as_of_engine(function: FunctionType) -> FunctionType:
    """A function of this file as if it stood in an engine: of an error that others raise no word is told."""
    function.__code__ = function.__code__.replace(co_filename=derive_file.__file__)
    return function


def test_a_formula_too_long_to_write_costs_its_class_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class is unproved with the reason; what else the unit holds goes on."""

    def unwritable(*given: object, **more: object) -> Entry:
        raise FormulaError("a formula of 300000 characters exceeds the limit of 200000")

    monkeypatch.setattr(work_file, "record", as_of_engine(unwritable))
    request = Request(target="torch.nn", wanted=("torch.nn.modules.linear.Linear",), budget=60.0)
    unit = work_file._Unit(request, adapter_for("torch", lambda recipe: []), "torch")
    way = Way(name="Linear", holds=frozenset(request.wanted))
    recipe = Recipe("toy", "torch", lambda sizes: nn.Identity(), lambda sizes, module, maker: ((), {}))
    unit._proved(request.wanted[0], way, [], Reached(), DeepRuns(recipe))
    [said] = [one for one in unit.classes() if one.name == request.wanted[0]]

    assert ("unproved", "not proved") == (said.state, said.kind)
    assert "exceeds the limit" in said.reason


def test_a_condition_too_long_to_write_costs_its_way_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class that the way calls is told with the reason; the unit goes on and ends."""
    name = "torch.nn.modules.linear.Linear"

    def unwritable(*given: object) -> list[Derived]:
        raise FormulaError("a formula of 300000 characters exceeds the limit of 200000")

    monkeypatch.setattr(derive_file, "_counted", as_of_engine(unwritable))
    unit = work_file._Unit(
        Request(target="torch.nn", wanted=(name,), budget=60.0), PlainAdapter("torch"), "torch"
    )
    unit.run()
    [said] = unit.classes()

    assert "unproved" == said.state
    assert "exceeds the limit" in said.reason


def test_what_models_that_cannot_be_followed_call_is_tried_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain run reaches the class in every model; only alone it can be derived: that is what is told."""
    name = "torch.nn.modules.linear.Linear"
    scenarios = ("Model", "Model all layers", "Linear alone in Model")
    tried: list[str] = []

    def reach(recipe: Recipe, targets: Sequence[str], *rest: object) -> Reached:
        tried.append(recipe.scenario)
        followed = "alone" in recipe.scenario
        found: dict[str, list[Found]] = {name: []} if followed else {}
        return Reached(found, frozenset(targets), None if followed else ForwardbookError("not that"))

    def no_formulas(*given: object, **more: object) -> Entry:
        raise FormulaError("nothing to write")

    class Ways(PlainAdapter):
        def ways(self, modules: Sequence[str], missing: Collection[str]) -> Iterator[Way]:
            [like] = recipes_for(name)[:1]
            for scenario in scenarios:
                if missing:
                    recipe = replace(like, scenario=scenario)
                    yield Way(name=scenario, holds=frozenset({name}), recipe=recipe)

    monkeypatch.setattr(work_file, "reach", reach)
    monkeypatch.setattr(work_file, "record", no_formulas)
    unit = work_file._Unit(Request(target="torch.nn", wanted=(name,), budget=60.0), Ways("torch"), "torch")
    unit.run()

    assert list(scenarios) == tried
    assert [("not proved", "Linear alone in Model")] == [(one.kind, one.way) for one in unit.classes()]
