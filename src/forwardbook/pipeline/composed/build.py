"""Runs models and derives every class that they call; a process for each model, its ways come back."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from forwardbook.analyzers.derive.derivation import run_of_model
from forwardbook.analyzers.instances.recipe import InstanceOptions, full_name
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.pipeline.apart import Ended, apart
from forwardbook.pipeline.child.overtime import Clock, Overtime
from forwardbook.pipeline.composed.assembly import Derived
from forwardbook.pipeline.composed.measured import LOW
from forwardbook.pipeline.composed.ways import Ways
from forwardbook.pipeline.spread import Spread
from forwardbook.profiling.raised import first_line_kept

SECONDS: Final = 600.0
"""Of the processor, for one model; half of the models take 20."""


@dataclass
class Result:
    """What one model gave: its ways by key, and why some of its classes have none."""

    model: str
    ways: dict[str, Derived] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    """For classes without any way: what stood against it."""
    problem: str = ""
    """Why the model itself did not run."""


def ways_of(model: str, seconds: float = SECONDS) -> Result:
    """Every way in which a model calls classes, derived alone; those that take longer are left out."""
    warnings.filterwarnings("ignore")
    result, ways = Result(model), Ways()
    try:
        with Clock(seconds).within():
            _derive(model, result, ways)
    except Overtime:
        result.problem = f"not done within {seconds:g} seconds of the processor"
    for way in ways.known.values():
        if way.key in ways.entries:
            result.ways[way.key] = Derived(ways.entries[way.key], way.facts)
        elif way.reason:
            result.problems[way.key.rpartition("~")[0]] = way.reason
    return result


def _derive(model: str, result: Result, ways: Ways) -> None:
    try:
        recipes = recipes_for(model, InstanceOptions())
    except Exception as error:  # noqa: BLE001 - analysed code may raise anything
        result.problem = first_line_kept(error)
        return
    for recipe in recipes:
        try:
            run, watch = run_of_model(recipe, LOW)
        except Exception as error:  # noqa: BLE001 - analysed code may raise anything
            result.problem = result.problem or first_line_kept(error)
            continue
        reached: set[str] = set()
        for place, (module, _) in enumerate(watch.calls):
            name, boundary = full_name(type(module)), watch.boundary(place)
            if isinstance(boundary, str):
                result.problems.setdefault(name, boundary)
            elif name not in reached:
                ways.lookup(boundary, run.expressions.of)
                reached |= {one.key.rpartition("~")[0] for one in ways.known.values()}


def each_model(models: Sequence[str], jobs: int) -> Iterator[Result]:
    """The results of all models as they come; a process that dies costs its own model alone."""
    if jobs == 1:
        yield from map(ways_of, models)
        return
    for found in Spread(jobs)(partial(apart, ways_of), models):
        yield Result(found.task, problem=found.why) if isinstance(found, Ended) else found
