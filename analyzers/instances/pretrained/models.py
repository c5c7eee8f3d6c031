"""A class of transformers in; out the models that have it in their tree, smallest first."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar, cast

from forwardbook.analyzers.instances.pretrained.configs import make_config, parts
from forwardbook.analyzers.instances.pretrained.library import AUTO, INSTALLED, Library, base_model
from forwardbook.analyzers.instances.pretrained.variants import VARIANTS
from forwardbook.analyzers.instances.recipe import InstanceOptions, full_name

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel

R = TypeVar("R")


def model_types_of(full_class_name: str) -> tuple[str, ...]:
    """The model types that live in the class's folder, by transformers' own table."""
    from transformers.models.auto.auto_mappings import CONFIG_MAPPING_NAMES
    from transformers.models.auto.configuration_auto import model_type_to_module_name

    folder = full_class_name.removeprefix("transformers.models.").split(".")[0]
    return tuple(name for name in CONFIG_MAPPING_NAMES if model_type_to_module_name(name) == folder)


def tree_classes(model: nn.Module) -> tuple[type[nn.Module], ...]:
    """The distinct classes with a forward() in a module's tree, in order of appearance."""
    return tuple(dict.fromkeys(type(module) for module in model.modules() if has_forward(type(module))))


def has_forward(cls: type[nn.Module]) -> bool:
    """Whether the class or a base of it implements forward()."""
    from torch import nn

    return cls.forward is not nn.Module.forward and not issubclass(cls, nn.ModuleList | nn.ModuleDict)


@dataclass(frozen=True)
class Holder:
    """A model that holds a class, and the settings of its config under which it does."""

    model_class: type[PreTrainedModel]
    settings: Mapping[str, object]
    deep: bool = False
    """Whether it has all layers of its default config."""
    mends: Mapping[str, object] = field(default_factory=dict)
    """Fields without which no model can be built from the default config."""

    @property
    def config_class(self) -> type[PreTrainedConfig]:
        """The class of the model's config."""
        return cast("type[PreTrainedConfig]", self.model_class.config_class)


def holders_of(target: type[nn.Module], library: Library = INSTALLED) -> list[Holder]:
    """One model for each config class that leads to the target; composites only when no part does."""
    base = base_model(library)
    itself = issubclass(target, base) and target.config_class is not None and has_forward(target)
    if itself and target.__name__ in _automatic_names(library):
        return [Holder(cast("type[PreTrainedModel]", target), {})]
    for settings in VARIANTS:
        if found := _holders(target, settings, library):
            return found
    return [Holder(cast("type[PreTrainedModel]", target), {})] if itself else []


def _holders(target: type[nn.Module], settings: Mapping[str, object], library: Library) -> list[Holder]:
    found: dict[object, Holder] = {}
    for model_class in models_of(target.__module__, library):
        holder = Holder(model_class, settings)
        composite = _breadth(holder.config_class) > 1
        if model_class is target or holder.config_class in found or (composite and found):
            continue
        if full_name(target) in _tree_names(
            cast(Hashable, model_class), tuple(settings), library
        ):
            found[holder.config_class] = holder
    return list(found.values())


def _once(answer: Callable[[type], R]) -> Callable[[type], R]:
    """The answer for a class, found once."""
    known: dict[type, R] = {}

    def remembered(cls: type) -> R:
        if cls not in known:
            known[cls] = answer(cls)
        return known[cls]

    return remembered


@lru_cache(maxsize=64)
def models_of(module_name: str, library: Library = INSTALLED) -> tuple[type[PreTrainedModel], ...]:
    """The models that a modeling module defines: fewest nested configs first, base models before heads."""
    defined = list(_defined_models(module_name, library))
    bases = _automatic_names(library, "MODEL_MAPPING_NAMES")
    return tuple(
        sorted(
            defined,
            key=lambda m: (
                _breadth(cast("type[PreTrainedConfig]", m.config_class)),
                m.__name__ not in bases,
                not m.__name__.endswith("Model"),
            ),
        )
    )


def _defined_models(module_name: str, library: Library) -> Iterator[type[PreTrainedModel]]:
    base = base_model(library)
    for value in library.classes(module_name):
        if issubclass(value, base) and value.config_class is not None and has_forward(value):
            yield value


@lru_cache(maxsize=8)
def _automatic_names(library: Library, table: str = "") -> frozenset[str]:
    """The class names that the Auto classes lead to, those of one table or of all."""
    wanted = [table] if table else [n for n in library.names(AUTO) if n.endswith("_MAPPING_NAMES")]
    tables = cast("list[Mapping[str, object]]", [library.value(AUTO, name) for name in wanted])
    names: set[str] = set()
    for value in itertools.chain.from_iterable(mapping.values() for mapping in tables):
        names.update(value if isinstance(value, tuple | list) else (cast(str, value),))
    return frozenset(names)


@_once
def _breadth(config_class: type[PreTrainedConfig]) -> int:
    """How many configs a default config consists of; many when it cannot be made."""
    try:
        return sum(1 for _ in parts(config_class()))
    except Exception:  # transformers' own constructors raise anything
        return 99


@lru_cache(maxsize=512)
def _tree_names(model_class: Hashable, variant: tuple[str, ...], library: Library) -> frozenset[str]:
    """The full names of the classes in a model's tree under a variant; none when it cannot be built."""
    import torch

    settings = next(settings for settings in VARIANTS if tuple(settings) == variant)
    holder = Holder(cast("type[PreTrainedModel]", model_class), settings)
    try:
        config = make_config(holder.config_class, InstanceOptions(), settings)
        with torch.device("meta"):
            model = instantiate(holder.model_class, config, library)
    except Exception:  # building somebody else's model raises anything
        return frozenset()
    return frozenset(full_name(cls) for cls in tree_classes(model))


def instantiate(
    model_class: type[PreTrainedModel], config: PreTrainedConfig, library: Library = INSTALLED
) -> PreTrainedModel:
    """The model in eval mode, with the attention that transformers chooses for each part of it.

    Its weights are of the default number format: what the config and its parts name is forgotten.
    """
    for part in parts(config):
        part.__dict__["dtype"] = None  # else transformers builds in it, and no other width could be asked
    model = library.make(model_class, config)
    model.train(False)
    return model
