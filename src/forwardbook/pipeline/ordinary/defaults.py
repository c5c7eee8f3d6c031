"""A class in; out how to call a model that holds it, with the numbers of its config's own defaults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from forwardbook.analyzers.instances.pretrained.configs import ask_sizes, copied, parts
from forwardbook.analyzers.instances.pretrained.depth import cut_depth
from forwardbook.analyzers.instances.pretrained.library import INSTALLED
from forwardbook.analyzers.instances.pretrained.models import Holder, holders_of, models_of
from forwardbook.analyzers.instances.pretrained.recipes import holder_recipes
from forwardbook.analyzers.instances.pretrained.settings import put
from forwardbook.analyzers.instances.recipe import InstanceOptions, Recipe, full_name
from forwardbook.analyzers.instances.recipes import recipes_for

POSITIONS: Final = re.compile(r"(^|\.)(max_(position_embeddings|(source|target)_positions)|n_positions)$")
"""Fields of a config that say how many tokens a model has positions for."""


@dataclass(frozen=True)
class Subject:
    """A way to call a model, and the sizes of its default config with few layers."""

    model: str
    recipe: Recipe
    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def positions(self) -> int | None:
        """The most tokens that it has positions for; None where nothing says so."""
        return min((size for name, size in self.sizes.items() if POSITIONS.search(name)), default=None)


def has_models(module: str) -> bool:
    """Whether a module defines models with a config, in whose calls its classes are seen."""
    return module.startswith("transformers.models.") and bool(models_of(module))


def subjects_of(full_class_name: str) -> Iterator[Subject]:
    """The ways to call the smallest model that holds a class; a class of no family by itself.

    Raises:
        NoRecipe: nobody says how to build or call it.
    """
    if not has_models(full_class_name.rpartition(".")[0]):
        for recipe in recipes_for(full_class_name, InstanceOptions()):
            yield Subject(full_class_name, recipe)
        return
    for holder in holders_of(INSTALLED.target(full_class_name))[:1]:
        sizes = default_sizes(holder)
        for recipe in holder_recipes(full_class_name, holder, InstanceOptions(), ""):
            yield Subject(full_name(holder.model_class), recipe, sizes)


def default_sizes(holder: Holder) -> dict[str, int]:
    """The sizes that a recipe of a model asks its config for, as the defaults have them; of layers a few."""
    config = copied(holder.config_class())
    put(config, parts(config), holder.settings)
    put(config, parts(config), holder.mends, new=True)
    if not holder.deep:
        for part in parts(config):
            cut_depth(part)
    found: dict[str, int] = {}

    def note(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        found.setdefault(name, hint)
        return hint

    ask_sizes(config, note)
    return found
