"""An entry and runs of another model than its own in; out its regimes, said of its own if those differ.

A place is told from the model down: `layers.*.attention` is a place of an encoder and of a decoder, and what
one of these calls with rows of its input the other may call with patches of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.pipeline.derivation.explore import FULL, LOW
from forwardbook.pipeline.derivation.unsized import unsized
from forwardbook.pipeline.reprove.deep_runs import DeepRuns
from forwardbook.pipeline.reprove.layers import is_unexplained
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.saying import MODEL
from forwardbook.schema import Entry, Regime


def with_model_told(entry: Entry, own: str, others: DeepRuns) -> Entry:
    """An entry, its regimes said of its `own` model where a call of another's is as none of them says."""
    if own == model_of(others.recipe):  # its name tells nothing apart
        return entry
    every = [StoredRegime(one) for one in entry.regimes]
    mine = [one for one in every if one.regime.places and not one.model and not one.flips]
    alike = [one for one in mine if one.belongs_to(others.recipe.scenario)]
    target = entry.full_class_name
    if not alike or not any(_is_otherwise(alike, target, others, dtype) for dtype in (FULL, LOW)):
        return entry
    names = {one.regime.name for one in mine}
    regimes = tuple(_below(one, own) if one.name in names else one for one in entry.regimes)
    return entry.model_copy(update={"regimes": regimes})


def model_of(recipe: Recipe) -> str:
    """The name of the class that a recipe builds."""
    return unsized(recipe.build).root.rpartition(".")[2]


def _is_otherwise(
    alike: Sequence[StoredRegime], target: str, others: DeepRuns, dtype: torch.dtype
) -> bool:
    run = others.plain(dtype)
    return run is not None and is_unexplained(alike, target, run)


def _below(regime: Regime, model: str) -> Regime:
    return regime.model_copy(update={"assumptions": (*regime.assumptions, f"{MODEL}{model}")})
