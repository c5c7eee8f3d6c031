"""A parameter of a formula and all that is known of a layer in; its value, by priority, with its origin out.

From the highest priority: what only a call decides stays a template; a field of the config of that name; what
follows from fields of the config; what the built module says of itself; a default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from forwardbook.models.populated import Value
from forwardbook.schema import WIDTH_NAMES, Parameter

RUNTIME: Final = (
    "batch_size",
    "seq_len",
    "decoder_seq_len",
    "encoder_seq_len",
    "kv_len",
    "num_samples",
    *WIDTH_NAMES,
)
_ITEM = re.compile(r"(.+?)(?:\[(\d+)\]|\.(\d+)|_(\d+))$")

Config = Mapping[str, object]


def _heads(config: Config) -> tuple[str, int | None]:
    return "num_attention_heads", _number(config, "num_attention_heads", "n_head", "num_heads")


def _head_dim(config: Config) -> int | None:
    width, heads = _number(config, "hidden_size", "n_embd", "d_model"), _heads(config)[1]
    return width // heads if width and heads else None


# Parameter -> how it follows from the config, in words and as a function.
DERIVED: Final[Mapping[str, tuple[str, Callable[[Config], int | None]]]] = {
    "head_dim": ("hidden_size // num_attention_heads", _head_dim),
    "num_key_value_heads": ("num_attention_heads", lambda config: _heads(config)[1]),
    "n_inner": ("4 * n_embd", lambda config: _times(4, _number(config, "n_embd"))),
    "intermediate_size": ("4 * hidden_size", lambda config: _times(4, _number(config, "n_embd"))),
    "num_hidden_layers": ("num_layers", lambda config: _number(config, "num_layers", "n_layer")),
}


@dataclass(frozen=True)
class Known:
    """What is known of one layer: its config and those around it, its module's attributes, its defaults."""

    configs: tuple[Config, ...] = ()
    attributes: Config = field(default_factory=dict)
    defaults: Config = field(default_factory=dict)


def value_of(parameter: Parameter, known: Known) -> Value | None:
    """The value of a parameter; None where nothing tells it."""
    name = parameter.name
    if name in RUNTIME or parameter.source in ("forward", "past_key_values", "number format"):
        return Value(value=f"{{{name}}}", origin="runtime", source=parameter.source)
    if parameter.source.endswith(".forward"):
        return Value(value=f"{{{name}}}", origin="runtime", source=parameter.source)
    built = parameter.source.endswith(".__init__")
    if not built:
        for config in known.configs:
            found = _looked_up(config, name)
            if found is not None:
                return Value(value=found, origin="config", source=f"config.{name}")
        for config in known.configs:
            rule = DERIVED.get(name.rpartition(".")[2])
            found = rule[1](config) if rule else None
            if rule and found is not None:
                return Value(value=found, origin="derived", source=rule[0])
    found = _looked_up(known.attributes, name)
    if found is not None:
        return Value(value=found, origin="structure", source=f"module.{name}")
    found = _looked_up(known.defaults, name)
    if found is not None:
        return Value(value=found, origin="default", source=parameter.source)
    return None


def _looked_up(place: Config, name: str) -> int | None:
    """The number at `name`, `part.name`, or one of several: `name[0]`, `name.0`, `name_0`."""
    found = _plain(place, name)
    if found is not None:
        return found
    match = _ITEM.fullmatch(name)
    if match is None:
        return None
    several = _get(place, match[1])
    index = int(match[2] or match[3] or match[4])
    if isinstance(several, list | tuple) and index < len(several):
        one = several[index]
        return one if isinstance(one, int) and not isinstance(one, bool) else None
    return None


def _plain(place: Config, name: str) -> int | None:
    found = _get(place, name)
    if isinstance(found, list | tuple) and len(found) == 1:
        found = found[0]
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _get(place: Config, name: str) -> object:
    found: object = place
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _number(config: Config, *names: str) -> int | None:
    return next((found for found in (_plain(config, name) for name in names) if found is not None), None)


def _times(factor: int, found: int | None) -> int | None:
    return None if found is None else factor * found
