"""A config and the model built from it in; the config with the sizes that it left to the model out.

`head_dim` of Mixtral is None and `head_dim` of Qwen3-MoE is no field of the config at all; both models then
share the hidden size out among the heads. A formula derived so is wrong for a config that states it, and
one in the name of the size holds for both. Which attributes are such sizes is seen by trying: stated as twice
the number, the model's own attribute follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.pretrained.configs import copied, named_parts
from forwardbook.analyzers.instances.pretrained.fields import SKIPPED, is_size

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig

Build = Callable[["PreTrainedConfig"], "nn.Module"]
Place = tuple[str, str]  # prefix of the nested config, name of the attribute


def stated(config: PreTrainedConfig, model: nn.Module, build: Build) -> PreTrainedConfig:
    """A config that states every size which its model computes for want of one; the model is the same."""
    left = dict(_left_open(config, model))
    followed = _following(config, left, build)
    if followed is None:  # together they do not fit: one by one
        followed = {place for place in left if _following(config, {place: left[place]}, build)}
    full = copied(config)
    _state(full, {place: left[place] for place in followed})
    return full


def _left_open(config: PreTrainedConfig, model: nn.Module) -> Iterator[tuple[Place, int]]:
    """Integer attributes of the modules of each config that the config has not, or has as None."""
    for prefix, part in named_parts(config):
        known = type(part).attribute_map
        for name, value in _attributes(model, type(part)):
            absent = part.__dict__.get(name) is None and name not in known and not hasattr(type(part), name)
            if absent or (name in part.__dict__ and part.__dict__[name] is None):
                yield (prefix, name), value


def _attributes(model: nn.Module, config_class: type) -> Iterator[tuple[str, int]]:
    """The sizes that modules keep under one value each, those of modules with such a config."""
    found: dict[str, set[int]] = {}
    for module in model.modules():
        if type(getattr(module, "config", None)) is config_class:
            for name, value in vars(module).items():
                if is_size(value) and not name.startswith("_") and not SKIPPED.search(name):
                    found.setdefault(name, set()).add(value)
    return ((name, next(iter(values))) for name, values in found.items() if len(values) == 1)


def _following(config: PreTrainedConfig, left: dict[Place, int], build: Build) -> set[Place] | None:
    """Those that the model takes over when they are stated; None where no model can be built so."""
    if not left:
        return set()
    trial = copied(config)
    _state(trial, {place: 2 * value for place, value in left.items()})
    try:
        model = build(copied(trial))
    except Exception:  # noqa: BLE001 - building somebody else's model raises anything
        return None
    now = {prefix: dict(_attributes(model, type(part))) for prefix, part in named_parts(trial)}
    return {(prefix, name) for (prefix, name), value in left.items() if now[prefix].get(name) == 2 * value}


def _state(config: PreTrainedConfig, values: dict[Place, int]) -> None:
    for prefix, part in named_parts(config):
        part.__dict__.update({name: value for (at, name), value in values.items() if at == prefix})
