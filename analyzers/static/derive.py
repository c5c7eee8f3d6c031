"""A class and what is given to build it in; the cost of each of its calls out, read from source text.

A class is interpreted, never imported or run, over the symbolic tensors of the other derivation and under
its recorder: the two count alike and differ in how the code is followed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.static.library import Interpreted
from forwardbook.analyzers.static.places import InterpretedPlaces
from forwardbook.analyzers.static.run import guarded
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.run import SymbolicRun, first_that_runs, run_symbolically


def static_recipes(
    full_class_name: str, options: InstanceOptions | None = None, roots: Sequence[Path] = ()
) -> list[Recipe]:
    """The recipes of a class, those of the other derivation in the same order, with interpreted classes.

    Raises:
        NoRecipe: what is needed to build the class, as it says of classes that are imported.
        Unresolved: names what the interpretation does not follow, with file and line.
    """
    library = Interpreted(full_class_name, roots)
    try:
        return guarded(
            f"reading how to build {full_class_name}", lambda: recipes_for(full_class_name, options, library)
        )
    except NoRecipe as problem:
        if library.problem is not None:
            raise library.problem from problem
        raise


def run_statically(
    recipe: Recipe,
    dtype: torch.dtype = torch.float32,
    hints: Mapping[str, int] | None = None,
    pinned: Mapping[str, int] | None = None,
) -> SymbolicRun:
    """One symbolic run of a recipe whose classes are interpreted.

    Raises:
        Unresolved: names what the interpretation does not follow, with file and line.
    """
    return guarded(
        f"reading {recipe.target}",
        lambda: run_symbolically(recipe, dtype, hints, pinned, InterpretedPlaces()),
    )


def run_first_statically(
    recipe: Recipe, dtype: torch.dtype, hints: Mapping[str, int] | None = None
) -> tuple[Recipe, SymbolicRun]:
    """The run of the first way of making inputs that works, and the recipe with only that way."""
    return first_that_runs(recipe, lambda one: run_statically(one, dtype, hints))


def static_patterns(recipe: Recipe, target: str, dtype: torch.dtype = torch.float32) -> list[Pattern]:
    """The call patterns of `target` in one interpretation of a recipe."""
    return patterns(run_first_statically(recipe, dtype)[1], target)
