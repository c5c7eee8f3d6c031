"""A model class in, the records of every class in its tree out: one run derives and proves them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from forwardbook.analyzers.instances.recipe import InstanceOptions, Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.reader import Facts, ReaderError, read_class
from forwardbook.analyzers.symbolic.patterns import class_name
from forwardbook.pipeline.derivation.entry import record
from forwardbook.pipeline.derivation.explore import FULL, regimes_of
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.derivation.opinions import opinions
from forwardbook.pipeline.derivation.regimes import run_first
from forwardbook.pipeline.derivation.second_reading import SecondReading
from forwardbook.profiling.raised import kept
from forwardbook.schema import Entry, Judge


@dataclass
class Tree:
    """What came of a tree: regimes by class, and scenarios that could not be run, with the reason."""

    found: dict[str, list[Found]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    reading: SecondReading | None = None


def derive_tree(
    root: str,
    seed: int,
    points: int = 3,
    explore: bool = True,
    wanted: Callable[[str], bool] = lambda name: True,
    told: Callable[[str], None] = lambda text: None,
) -> Tree:
    """The regimes of every wanted class that a call of `root` reaches, over all its scenarios."""
    recipes = recipes_for(root, InstanceOptions())
    tree = Tree(reading=SecondReading(root, InstanceOptions(), recipes))
    for recipe in recipes:
        told(recipe.scenario)
        try:
            targets = [name for name in _called(recipe) if wanted(name)]
            for one in regimes_of(recipe, seed, points, explore, targets):
                tree.found.setdefault(one.derived.target, []).append(one)
        except Exception as error:  # noqa: BLE001 - the reason is kept; other scenarios go on
            tree.failed[recipe.scenario] = kept(error)
    return tree


def _called(recipe: Recipe) -> Iterable[str]:
    _, run = run_first(recipe, FULL)
    return dict.fromkeys(class_name(c.module) for c in run.trace.calls)


def entries(found: Mapping[str, list[Found]], reading: SecondReading | None = None) -> dict[str, Entry]:
    """The record of each class that has source; classes made at run time have none and are left out.

    The judges, who run the whole model, are asked about the first regime of each class. `reading` compares
    each with what its source text alone gives.
    """
    made: dict[str, Entry] = {}
    for name, regimes in found.items():
        facts = _facts(name)
        if facts is None:
            continue
        library, judged = name.partition(".")[0], partial(_first, regimes[0])
        if reading is None:
            made[name] = record(facts, library, regimes, judged=judged)
        else:
            made[name] = reading.noted(record(facts, library, regimes, judged=judged, agrees=reading.of))
    return made


def _first(asked: Found, one: Found) -> list[Judge]:
    return opinions(one) if one is asked else []


def _facts(name: str) -> Facts | None:
    try:
        return read_class(name)
    except ReaderError:
        return None
