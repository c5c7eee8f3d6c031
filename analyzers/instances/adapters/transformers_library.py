"""What the catalogue must know of transformers: models are built from configs and hold other classes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.adapters.adapter import Way
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from forwardbook.analyzers.instances.pretrained.models import Holder

_PREFIX = "transformers.models."
_SOURCES = ("modular_", "convert_")
"""Files from which modeling files are made, and scripts."""
_TABLES = ("transformers.activations", "transformers.pytorch_utils")
"""Modules whose classes rows of data know how to call."""
_EXCEPTIONS: dict[str, str] = {}


@dataclass(frozen=True)
class TransformersAdapter:
    """The classes of transformers, a unit for each folder of models."""

    exceptions: dict[str, str] = field(default_factory=lambda: dict(_EXCEPTIONS))

    def reads(self, module: str) -> bool:
        """All but the sources of generated files, and scripts."""
        return not module.rpartition(".")[2].startswith(_SOURCES)

    def unit(self, module: str) -> str:
        """The folder of a family of models; elsewhere the file."""
        if module.startswith(_PREFIX):
            return _PREFIX + module.removeprefix(_PREFIX).partition(".")[0]
        return module

    def ways(self, modules: Sequence[str], missing: Collection[str]) -> Iterator[Way]:
        """Models of the unit's modules, base models first, in each variant of their configs."""
        from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes

        accept_symbolic_sizes()
        if any(module in _TABLES for module in modules):
            yield from _rows(missing)
        yield from _models(modules, missing)
        if missing:
            from forwardbook.analyzers.instances.adapters.plain import PlainAdapter

            others = [m for m in modules if not m.startswith(_PREFIX)]
            yield from PlainAdapter("transformers").ways(others, missing) if others else ()


def _rows(missing: Collection[str]) -> Iterator[Way]:
    from forwardbook.analyzers.instances.recipes import recipes_for

    for name in sorted(missing):
        try:
            recipes = recipes_for(name)
        except NoRecipe:
            continue  # the plain way is left
        for recipe in recipes:
            yield Way(recipe.scenario, frozenset({name, recipe.calls_as}), recipe)


def _models(modules: Sequence[str], missing: Collection[str]) -> Iterator[Way]:
    from forwardbook.analyzers.instances.pretrained.models import Holder, models_of
    from forwardbook.analyzers.instances.pretrained.variants import VARIANTS

    models: list[type[PreTrainedModel]] = []
    for module in modules:
        try:
            models += models_of(module)
        except (Exception, SystemExit) as error:  # importing somebody else's module raises anything
            held = frozenset(name for name in missing if name.rpartition(".")[0] == module)
            yield Way(f"import {module}", held, problem=error)
    for settings in VARIANTS:
        for model_class in models:
            if not missing:
                return
            way = _way(Holder(model_class, settings), missing)
            if way is not None:
                yield way
        if settings:
            continue
        for model_class in models:  # what comes only after many layers, or needs all of them
            if not missing:
                return
            way = _way(Holder(model_class, settings, deep=True), missing)
            if way is not None and way.problem is None:
                yield way


def _way(holder: Holder, missing: Collection[str]) -> Way | None:
    """The way through one model; None where it holds nothing that is missing, or has no such variant."""
    import torch

    from forwardbook.analyzers.instances.pretrained.configs import make_config
    from forwardbook.analyzers.instances.pretrained.models import instantiate, tree_classes
    from forwardbook.analyzers.instances.pretrained.recipes import holder_recipes

    model_class, settings = holder.model_class, holder.settings
    full_name = f"{model_class.__module__}.{model_class.__qualname__}"
    kind = str(getattr(holder.config_class, "model_type", ""))
    said = [*(f"{k}={v}" for k, v in settings.items()), *(["all layers"] if holder.deep else [])]
    name = " ".join([model_class.__name__, *said])
    itself = frozenset({full_name} & set(missing))
    try:
        config = make_config(holder.config_class, InstanceOptions(), settings, holder.deep)
        with torch.device("meta"):
            tree = tree_classes(instantiate(model_class, config))
    except Exception as error:  # building somebody else's model raises anything
        return None if settings else Way(name, itself, problem=error, kind=kind)
    held = frozenset(f"{cls.__module__}.{cls.__qualname__}" for cls in tree) & frozenset(missing)
    if not held:
        return None
    try:
        recipe = holder_recipes(full_name, holder, InstanceOptions(), "")[0]
    except Exception as error:  # a signature or a config that nothing can be said of
        return Way(name, held, problem=error, kind=kind)
    return Way(name, held, recipe, kind=kind)
