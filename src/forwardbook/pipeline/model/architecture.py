"""A model class and its config in; out the architecture: the module tree, equal siblings told once."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from forwardbook.analyzers.instances.pretrained.models import instantiate
from forwardbook.analyzers.instances.recipe import full_name
from forwardbook.models.architecture import Architecture, Layer

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel


def architecture_of(
    model_id: str,
    model_class: type[PreTrainedModel],
    config: PreTrainedConfig,
    aliases: Sequence[str] = (),
    source: str = "",
) -> Architecture:
    """The architecture of a model built from its config on the meta device, without weights."""
    import torch

    with torch.device("meta"):
        model = instantiate(model_class, config)
    return Architecture(
        model_id=model_id,
        aliases=list(aliases),
        source=source,
        model_class=full_name(model_class),
        config_class=full_name(type(config)),
        config=_fields(config),
        layers=list(layers_of(model)),
    )


def _fields(config: PreTrainedConfig) -> dict[str, JsonValue]:
    """The fields that differ from the defaults; of the labels their number."""
    values = cast("dict[str, JsonValue]", config.to_diff_dict())
    for part in (values, *(v for v in values.values() if isinstance(v, dict))):
        labels = part.pop("id2label", None)
        if isinstance(labels, dict):
            part["num_labels"] = len(labels)
        for name in ("label2id", "transformers_version", "_name_or_path"):
            part.pop(name, None)
        for name in [n for n, v in part.items() if not _is_written(v)]:
            del part[name]  # an infinite bound, which is a default; JSON has no word for it
    return values


def _is_written(value: object) -> bool:
    inner = value if isinstance(value, list | tuple) else [value]
    return all(isfinite(one) for one in inner if isinstance(one, float))


def layers_of(module: nn.Module) -> list[Layer]:
    """The children of a module; containers that only hold others stand under their children's names."""
    made = [(name, child) for name, child in _held(module, "")]
    found: list[Layer] = []
    names: list[list[str]] = []
    for name, child in made:
        layer = _layer(name, child)
        if found and _alike(found[-1], layer) and _stem(names[-1][-1]) == _stem(name):
            names[-1].append(name)
            found[-1] = found[-1].model_copy(update={"repeat": found[-1].repeat + 1})
        else:
            found.append(layer)
            names.append([name])
    return [layer.model_copy(update={"name": _joined(n)}) for layer, n in zip(found, names, strict=True)]


def _held(module: nn.Module, prefix: str) -> list[tuple[str, nn.Module]]:
    from torch import nn

    found: list[tuple[str, nn.Module]] = []
    for name, child in module.named_children():
        if isinstance(child, nn.ModuleList | nn.ModuleDict):
            found += _held(child, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", child))
    return found


def _layer(name: str, module: nn.Module) -> Layer:
    beneath = layers_of(module)
    return Layer.model_validate(
        {
            "name": name,
            "class": full_name(type(module)),
            "repeat": 1,
            "kind": "composite" if beneath else "basic",
            "parameter_count": sum(p.numel() for p in module.parameters()),
            "sub_layers": beneath,
        }
    )


def _alike(one: Layer, other: Layer) -> bool:
    return one.model_copy(update={"name": "", "repeat": 1}) == other.model_copy(update={"name": ""})


def _stem(name: str) -> str:
    stem, _, last = name.rpartition(".")
    return stem if last.isdigit() else name


def _joined(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    stem, last = _stem(names[0]), names[-1].rpartition(".")[2]
    return f"{stem}{stem and '.'}{names[0].rpartition('.')[2]}-{last}"
