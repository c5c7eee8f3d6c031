"""Sizes of layers that differ from the rest of their model, which a config keeps by layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.instances.pretrained.derived import derive, derived_names
from forwardbook.analyzers.instances.pretrained.fields import SKIPPED, hint_of, is_size
from forwardbook.analyzers.instances.recipe import Sizes

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

SPEC: Final = "_heterogeneity_spec"
OVERRIDES: Final = "per_layer_overrides"
LAYERS: Final = "num_hidden_layers"
Fields = dict[str, object]


def ask_layers(config: PreTrainedConfig, prefix: str, sizes: Sizes) -> None:
    """Asks for the sizes that single layers have: `full_attention.head_dim`, and `layers.5.head_dim`
    where layers of one type differ among themselves.
    """
    layers = _overrides(config)
    kinds = dict(_kinds(config, layers))
    for index, fields in layers.items():
        derived = derived_names(fields)
        for name, value in list(fields.items()):
            if name not in derived and is_size(value) and isinstance(value, int) and not SKIPPED.search(name):
                full = f"{prefix}{kinds[index]}.{name}"
                meaning = f"{name} of the layers of {kinds[index]}"
                fields[name] = sizes(full, value, meaning, f"config.{prefix}per_layer_config[{index}].{name}")
        derive(fields, derived)


def _overrides(config: PreTrainedConfig) -> dict[int, Fields]:
    """The fields of each layer that has its own, of those layers that there are."""
    found = getattr(config.__dict__.get(SPEC), OVERRIDES, None)
    layers = config.__dict__.get(LAYERS)
    if not isinstance(found, dict) or layers is None:
        return {}
    return {index: fields for index, fields in found.items() if index < hint_of(layers)}


def _kinds(config: PreTrainedConfig, layers: dict[int, Fields]) -> Iterator[tuple[int, str]]:
    """What layers of each index are called: by their type, where one type has one set of fields."""
    types = config.__dict__.get("layer_types") or []
    for index, fields in layers.items():
        alike = [layers.get(i) for i, kind in enumerate(types) if index < len(types) and kind == types[index]]
        named = bool(alike) and all(one == fields for one in alike)
        yield index, str(types[index]) if named else f"layers.{index}"
