"""Runs models and derives every class that they call; a process for each model, its ways come back."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context

from forwardbook.analyzers.derive.derivation import run_of_model
from forwardbook.analyzers.instances.recipe import InstanceOptions, full_name
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.pipeline.composed.assembly import Derived
from forwardbook.pipeline.composed.measured import LOW
from forwardbook.pipeline.composed.ways import Ways
from forwardbook.profiling.raised import first_line_kept


@dataclass
class Result:
    """What one model gave: its ways by key, and why some of its classes have none."""

    model: str
    ways: dict[str, Derived] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    """For classes without any way: what stood against it."""
    problem: str = ""
    """Why the model itself did not run."""


def ways_of(model: str) -> Result:
    """Every way in which a model calls classes, derived alone."""
    warnings.filterwarnings("ignore")
    result, ways = Result(model), Ways()
    try:
        recipes = recipes_for(model, InstanceOptions())
    except Exception as error:  # noqa: BLE001 - analysed code may raise anything
        return Result(model, problem=first_line_kept(error))
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
    for way in ways.known.values():
        if way.key in ways.entries:
            result.ways[way.key] = Derived(ways.entries[way.key], way.facts)
        elif way.reason:
            result.problems[way.key.rpartition("~")[0]] = way.reason
    return result


def each_model(models: Sequence[str], jobs: int) -> Iterator[Result]:
    """The results of all models as they come; a process that dies costs its own model alone."""
    if jobs == 1:
        yield from map(ways_of, models)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        waiting = {pool.submit(_pickled, model): model for model in models}
        for done in as_completed(waiting):
            try:
                yield pickle.loads(done.result())  # noqa: S301 - of our own process
            except Exception as error:  # noqa: BLE001 - a worker that was killed
                yield Result(waiting[done], problem=f"its process ended: {type(error).__name__}")


def _pickled(model: str) -> bytes:
    return pickle.dumps(ways_of(model))
