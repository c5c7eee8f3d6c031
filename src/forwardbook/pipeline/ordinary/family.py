"""Classes of one family in; what their entries answer at ordinary points of its models out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.entries.cost_model import CostModel
from forwardbook.pipeline.child.overtime import Clock, Overtime
from forwardbook.pipeline.ordinary.answers import Answer, Where, answers_of
from forwardbook.pipeline.ordinary.defaults import Subject, subjects_of
from forwardbook.pipeline.ordinary.run import EVERYWHERE, TOKEN_NAMES, Place, Run, run_at
from forwardbook.profiling.raised import first_line_kept
from forwardbook.workspace.entry_store import EntryStore, model_of

SECONDS: Final = 300.0
"""Of the processor for one family; points that are left then are not tried."""
FIRST: Final = Place(2, 16, 2)
"""The point at which the way to make inputs is chosen."""


@dataclass(frozen=True)
class Family:
    """A module with models, its classes, and those of others that are looked at where it calls them."""

    name: str
    classes: tuple[str, ...]
    guests: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    """Of the entries; where two have a key the first."""
    seconds: float = SECONDS


@dataclass
class Findings:
    """What a family showed."""

    family: str
    answers: list[Answer] = field(default_factory=list)
    runs: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """Why models do not run at a point, and at how many."""
    unreached: dict[str, str] = field(default_factory=dict)
    """Classes that no run called, and why."""


def findings_of(family: Family) -> Findings:
    """The answers at every ordinary point of models that hold the classes."""
    warnings.filterwarnings("ignore")
    model = model_of([EntryStore(folder) for folder in family.folders])
    found, clock = Findings(family.name), Clock(family.seconds)
    try:
        with clock.within():
            for name in family.classes:
                if name not in _called(found):
                    _look(name, family, model, found)
    except Overtime:
        reason = f"its family took over {family.seconds:.0f} s of the processor"
        found.refused[f"{reason}; further points were not tried"] += 1
        found.unreached |= {name: reason for name in family.classes if name not in found.unreached}
    called = _called(found)
    found.unreached = {name: why for name, why in found.unreached.items() if name not in called}
    return found


def _called(found: Findings) -> set[str]:
    return {one.full_class_name for one in found.answers}


def _look(name: str, family: Family, model: CostModel, found: Findings) -> None:
    """The answers in every way to call the model that holds a class."""
    wanted = {*family.classes, *family.guests}
    found.unreached[name] = "no model of its module calls it"
    try:
        for subject in subjects_of(name):
            _at_points(subject, wanted, model, found)
    except Exception as error:  # noqa: BLE001 - analysed code may raise anything
        found.unreached[name] = first_line_kept(error)


def _at_points(subject: Subject, wanted: set[str], model: CostModel, found: Findings) -> None:
    chosen = _first_that_runs(subject)
    if isinstance(chosen, str):
        found.refused[chosen] += 1
        return
    recipe, asked = chosen
    for place in places(asked, subject.positions):
        try:
            run = run_at(recipe, subject.sizes, place)
        except Exception as error:  # noqa: BLE001 - analysed code may raise anything
            found.refused[first_line_kept(error)] += 1
            continue
        found.runs += 1
        where = Where(subject.model, recipe.scenario, place)
        found.answers += answers_of(run, where, model, wanted)


def _first_that_runs(subject: Subject) -> tuple[Recipe, frozenset[str]] | str:
    """The recipe with the first of its inputs that work, and what it asks for; or why none does."""
    problem = ""
    for inputs in (subject.recipe.inputs, *subject.recipe.alternatives):
        recipe = replace(subject.recipe, inputs=inputs, alternatives=())
        try:
            run: Run = run_at(recipe, subject.sizes, FIRST)
            return recipe, run.asked
        except Exception as error:  # noqa: BLE001 - analysed code may raise anything
            problem = problem or first_line_kept(error)
    return problem


def places(asked: frozenset[str], positions: int | None) -> Iterator[Place]:
    """The ordinary points that differ in what a recipe asks for, as far as a model has positions.

    What it does not ask for is 0: of an image the tokens.
    """
    seen: set[tuple[int, int, int]] = set()
    new = "kv_len" in asked  # one token more than those in the cache
    for place in EVERYWHERE:
        tokens = place.tokens if asked & {*TOKEN_NAMES} else 0
        if positions is not None and tokens + new > positions:
            continue
        told = (place.batch_size if "batch_size" in asked else 0, tokens, place.dtype_bytes)
        if told not in seen:
            seen.add(told)
            yield Place(*told)
