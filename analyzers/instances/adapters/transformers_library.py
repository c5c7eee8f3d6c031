"""What the catalogue must know of transformers: models are built from configs and hold other classes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.adapters.adapter import Way
from forwardbook.analyzers.instances.adapters.model_calls import (
    as_asked,
    described_as,
    plainly,
    with_more,
    with_places,
)
from forwardbook.analyzers.instances.adapters.transformers_exceptions import exceptions
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Recipe, full_name, hinted

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from forwardbook.analyzers.instances.pretrained.models import Holder

_PREFIX = "transformers.models."
_SOURCES = ("modular_", "convert_")
"""Files from which modeling files are made, and scripts."""
_TABLES = ("transformers.activations", "transformers.pytorch_utils")
"""Modules whose classes rows of data know how to call."""
DEEP = 3
"""Models of one family that are tried with all their layers."""


@dataclass(frozen=True)
class TransformersAdapter:
    """The classes of transformers, a unit for each folder of models."""

    exceptions: dict[str, str] = field(default_factory=exceptions)

    def reads(self, module: str) -> bool:
        """All but the sources of generated files, and scripts."""
        return not module.rpartition(".")[2].startswith(_SOURCES)

    def unit(self, module: str) -> str:
        """The folder of a family of models; elsewhere the file."""
        if module.startswith(_PREFIX):
            return _PREFIX + module.removeprefix(_PREFIX).partition(".")[0]
        return module

    def models(self, modules: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Models with a forward() of their own, by the model type of their config."""
        from forwardbook.analyzers.instances.pretrained.models import models_of

        found: dict[str, list[str]] = {}
        for module in (one for one in modules if one.startswith(_PREFIX)):
            for model in models_of(module):
                kind = str(getattr(model.config_class, "model_type", ""))
                found.setdefault(kind, []).append(full_name(model))
        return {kind: tuple(sorted(names)) for kind, names in sorted(found.items()) if kind}

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
    from forwardbook.analyzers.instances.pretrained.models import models_of
    from forwardbook.analyzers.instances.pretrained.variants import VARIANTS

    models: list[type[PreTrainedModel]] = []
    for module in modules:
        try:
            models += models_of(module)
        except (Exception, SystemExit) as error:  # importing somebody else's module raises anything
            its = frozenset(name for name in missing if name.rpartition(".")[0] == module)
            yield Way(f"import {module}", its, problem=error)
    held: dict[str, Holder] = {}
    for settings in VARIANTS:
        yield from _variant(models, settings, missing, held)
        if not settings:
            yield from _variant(models, settings, missing, held, deep=True)
            yield from _read(modules, models, missing, held)
    yield from _alone(missing, held)
    yield from _by_methods(missing, held)
    yield from _by_themselves(modules, missing, held)


def _read(
    modules: Sequence[str],
    models: Sequence[type[PreTrainedModel]],
    missing: Collection[str],
    held: dict[str, Holder],
) -> Iterator[Way]:
    """Models under the settings that the source asks for where it constructs what no default model holds."""
    from forwardbook.analyzers.instances.pretrained.guards import settings_for
    from forwardbook.analyzers.instances.pretrained.settings import EVERY

    for module in sorted({model_class.__module__ for model_class in models} & set(modules)):
        names = {name.rpartition(".")[2] for name in missing if name.rpartition(".")[0] == module} - {
            name.rpartition(".")[2] for name in held
        }
        if not names:
            continue
        told = settings_for(_source(module), names)
        for name, settings in [(n, s) for n, every in sorted(told.items()) for s in every]:
            full = f"{module}.{name}"
            if full in missing and full not in held:
                every = {EVERY + field: value for field, value in settings.items()}
                yield from _variant(models, every, missing, held, until=full)


def _source(module: str) -> str:
    import importlib
    import inspect

    return inspect.getsource(importlib.import_module(module))


def _variant(
    models: Sequence[type[PreTrainedModel]],
    settings: Mapping[str, object],
    missing: Collection[str],
    held: dict[str, Holder],
    deep: bool = False,
    until: str = "",
) -> Iterator[Way]:
    """Models under settings; `deep` for what comes only after many layers, or needs all of them.

    `held` learns which model holds what; no further model is tried once it knows `until`.
    """
    from forwardbook.analyzers.instances.pretrained.models import Holder

    tried = 0
    for model_class in models:
        if not missing or until in held or (deep and tried >= DEEP):
            return
        holder = Holder(model_class, settings, deep)
        found = plainly(holder, missing)
        if found is None:
            continue
        way, holder = found
        tried += 1
        if way.recipe is not None:
            for name in way.holds:
                held.setdefault(name, holder)
        before = way.holds & frozenset(missing)
        if way.problem is None or not deep:
            yield way
        if way.recipe is not None and before <= frozenset(missing):
            yield from as_asked(holder, way, missing)  # nothing was reached: it refused the inputs
        if way.recipe is not None and way.holds & frozenset(missing) and not deep:
            yield from with_places(holder, way, missing)
            yield from with_more(holder, way, missing)


def _holding(missing: Collection[str], held: Mapping[str, Holder]) -> Iterator[Holder]:
    """The models that hold what no call of them reached."""
    for holder in dict.fromkeys(map(id, held.values())):
        chosen = next(one for one in held.values() if id(one) == holder)
        if any(one is chosen and name in missing for name, one in held.items()):
            yield chosen


def _alone(missing: Collection[str], held: Mapping[str, Holder]) -> Iterator[Way]:
    """Submodules by themselves, in the models that hold what no call of those reached."""
    from forwardbook.analyzers.instances.pretrained.submodules import alone

    for holder in _holding(missing, held):
        model, recipe = _on_meta(holder)
        for one in alone(model, recipe, missing):
            yield _through(holder, one.holds, one.recipe)


def _by_methods(missing: Collection[str], held: Mapping[str, Holder]) -> Iterator[Way]:
    """Other methods of those models than forward()."""
    from forwardbook.analyzers.instances.pretrained.methods import entries

    for holder in _holding(missing, held):
        model, recipe = _on_meta(holder)
        for one in entries(model, recipe, missing):
            yield _through(holder, one.holds, one.recipe)


def _through(holder: Holder, holds: frozenset[str], recipe: Recipe) -> Way:
    kind = str(getattr(holder.config_class, "model_type", ""))
    return Way(f"{recipe.scenario} in {described_as(holder)}", holds, recipe, kind=kind)


def _on_meta(holder: Holder) -> tuple[PreTrainedModel, Recipe]:
    """The model, and how it is built and called."""
    import torch

    from forwardbook.analyzers.instances.pretrained.recipes import holder_recipes

    recipe = holder_recipes(full_name(holder.model_class), holder, InstanceOptions(), "")[0]
    with torch.device("meta"):
        model = recipe.build(hinted)
    return cast("PreTrainedModel", model), recipe


def _by_themselves(
    modules: Sequence[str], missing: Collection[str], held: Mapping[str, Holder]
) -> Iterator[Way]:
    """Classes that no model holds, built by their own constructors."""
    from forwardbook.analyzers.instances.pretrained.constructors import by_themselves

    for name in sorted(one for one in missing if one.rpartition(".")[0] in modules):
        if name not in missing or name in held or not name.startswith(_PREFIX):
            continue
        short = name.rpartition(".")[2]
        try:
            for one in by_themselves(name):
                yield Way(f"{short} by itself", one.holds & frozenset(missing), one.recipe)
        except Exception as error:  # somebody else's constructor raises anything
            yield Way(f"{short} by itself", frozenset({name}), problem=error)
