"""A recipe of interpreted classes and a dtype in; the cost of each of their calls out, read from source.

A class is interpreted, never imported or run, over the symbolic tensors of the other derivation and under
its recorder: the two count alike and differ in how the code is followed.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.static.places import InterpretedPlaces
from forwardbook.analyzers.static.run import guarded
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_symbolically


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


def static_patterns(recipe: Recipe, target: str, dtype: torch.dtype = torch.float32) -> list[Pattern]:
    """The call patterns of `target` in one interpretation of a recipe."""
    return patterns(run_statically(recipe, dtype), target)
