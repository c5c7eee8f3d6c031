"""A config class in; out a live config of few layers whose integer fields are asked for as sizes."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.depth import cut_depth, follow_depth
from forwardbook.analyzers.instances.pretrained.derived import derive, derived_names
from forwardbook.analyzers.instances.pretrained.fields import SKIPPED, is_size, is_size_list
from forwardbook.analyzers.instances.pretrained.labels import ask_labels
from forwardbook.analyzers.instances.pretrained.library import is_config
from forwardbook.analyzers.instances.pretrained.per_layer import ask_layers
from forwardbook.analyzers.instances.pretrained.settings import put
from forwardbook.analyzers.instances.pretrained.variants import REPAIRS
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Sizes
from forwardbook.errors import own_type

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

EXPERTS = re.compile(r"^(.*num_experts|.*n_routed_experts|num_local_experts|n_experts|num_routed_experts)$")
CHOSEN = re.compile(
    r"(num_experts_per_tok|top_k_experts|moe_k|moe_top_?k|num_selected_experts|experts_per_token)"
)
GROUPS = ("n_group", "moe_num_groups", "num_expert_groups")
EXPERTS_KEPT = 8  # more than the usual top-k, so that balanced routing leaves experts to choose from
EXPERTS_LEAST = 6  # of several: loops over those that get tokens are interpolated from half of them on

def make_config(
    config_class: type[PreTrainedConfig],
    options: InstanceOptions,
    settings: Mapping[str, object] | None = None,
    deep: bool = False,
    mends: Mapping[str, object] | None = None,
) -> PreTrainedConfig:
    """The default config, or the one in the user's file, with depth and expert counts cut.

    `deep` leaves the depth: some layers come only after many, and some fields count on all of them.
    `mends` are fields without which no model can be built. ValueError when the config lacks a field that
    the settings set.
    """
    values: dict[str, object] = read_config(options.config_file) if options.config_file else {}
    values |= {name: json.loads(text) for name, text in options.init.items()}
    try:
        config = config_class.from_dict(values) if values else config_class()
    except Exception as error:
        raise NoRecipe(config_class.__name__, f"its config cannot be made: {own_type(error)}") from error
    put(config, parts(config), settings or {})
    put(config, parts(config), mends or {}, new=True)
    for name, value in REPAIRS.get(config.model_type, {}).items():
        if config.__dict__.get(name) in (None, 0, (), []):
            config.__dict__[name] = value
    for part in parts(config):
        if not deep:
            cut_depth(part)
        _cut_experts(part)
        if not any("num_key_value_heads" in name for name in mends or {}):
            _share_heads(part)
        part.__dict__["return_dict"] = True
        if "pad_token_id" in part.__dict__:  # in every vocabulary, and among no made input
            part.__dict__["pad_token_id"] = 0
    return config


def read_config(file: Path) -> dict[str, object]:
    """The fields in a config file, which holds one JSON object."""
    try:
        values = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise NoRecipe(str(file), f"reading the config file failed: {error}") from error
    if not isinstance(values, dict):
        raise NoRecipe(str(file), f"a config file holds one JSON object, found {type(values).__name__}")
    return values


def copied(config: PreTrainedConfig) -> PreTrainedConfig:
    """A config of its own, so that sizes asked for in one run are not seen in another."""
    return copy.deepcopy(config)


def parts(config: PreTrainedConfig) -> Iterator[PreTrainedConfig]:
    """The config and every config nested in it, once each."""
    return (part for _, part in named_parts(config))


def named_parts(
    config: PreTrainedConfig, prefix: str = "", seen: set[int] | None = None
) -> Iterator[tuple[str, PreTrainedConfig]]:
    """The config and every config nested in it, once each, with the prefix of its fields' names."""
    seen = set() if seen is None else seen
    if id(config) in seen:
        return
    seen.add(id(config))
    yield prefix, config
    for name, value in list(config.__dict__.items()):
        if is_config(value):
            yield from named_parts(value, f"{prefix}{name}.", seen)


def ask_sizes(config: PreTrainedConfig, sizes: Sizes) -> None:
    """Replaces integer fields by sizes of their names: `hidden_size`, `vision_config.depth`, `depths.0`."""
    for prefix, part in named_parts(config):
        meanings = _meanings(type(part).__doc__ or "")
        derived = derived_names(part.__dict__)  # while all of them are numbers
        for name, value in list(part.__dict__.items()):
            if name.startswith("_") or SKIPPED.search(name) or name in derived or _is_stages(part, name):
                continue
            if is_size(value):
                full = prefix + name
                part.__dict__[name] = sizes(full, value, meanings.get(name, ""), f"config.{full}")
                follow_depth(part, name, value)
            elif is_size_list(name, value):
                part.__dict__[name] = type(value)(
                    sizes(f"{prefix}{name}.{i}", x, meanings.get(name, ""), f"config.{prefix}{name}[{i}]")
                    if x >= 2
                    else x
                    for i, x in enumerate(value)
                )
        derive(part.__dict__, derived)
        ask_labels(part, prefix, sizes)
        ask_layers(part, prefix, sizes)


def _is_stages(config: PreTrainedConfig, name: str) -> bool:
    """Whether a field counts the stages that `depths` lists."""
    fields = config.__dict__
    return "layer" in name and "depths" in fields and fields[name] == len(fields["depths"])


def _share_heads(config: PreTrainedConfig) -> None:
    """Fewer heads of keys than of queries where the default has as many: that is the special case.

    Equal counts skip what grouped queries run (repeated keys where a head is wider than fused kernels take).
    """
    fields = config.__dict__
    heads, shared = fields.get("num_attention_heads"), fields.get("num_key_value_heads")
    if "num_key_value_heads" in derived_names(fields) or not is_size(heads) or heads != shared:
        return
    if cast(int, heads) % 4 == 0:
        fields["num_key_value_heads"] = cast(int, heads) // 4


def _cut_experts(config: PreTrainedConfig) -> None:
    fields = config.__dict__
    chosen = max([v for n, v in fields.items() if CHOSEN.search(n) and is_size(v)], default=1)
    groups = max([fields[n] for n in GROUPS if is_size(fields.get(n))], default=1)
    kept = max(EXPERTS_KEPT, 2 * chosen, 2 * groups)  # two experts for every choice and in every group
    for name, value in list(fields.items()):
        if is_size(value) and EXPERTS.match(name) and value > 1:
            fields[name] = max(min(value, kept), EXPERTS_LEAST)


_DOCUMENTED = re.compile(r"^[ \t]+(\w+) \(`[^)]*\):\s*\n\s+(.+)$", re.MULTILINE)


@lru_cache(maxsize=64)
def _meanings(docstring: str) -> dict[str, str]:
    """What a config's docstring says of each field, one line each."""
    return {name: text.strip() for name, text in _DOCUMENTED.findall(docstring)}
