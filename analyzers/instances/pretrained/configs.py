"""A config class in; out a live config of few layers whose integer fields are asked for as sizes."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.library import is_config
from forwardbook.analyzers.instances.pretrained.settings import put
from forwardbook.analyzers.instances.pretrained.variants import REPAIRS
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Sizes

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

# Integers that are no sizes: ids of tokens and labels, indices, seeds, versions, settings of generation.
SKIPPED = re.compile(
    r"(_ids?$|_index$|_idx$|token_id|_token$|seed|version|chunk_size_feed|num_labels|problem|num_beams"
    r"|max_length|min_length|top_k$|no_repeat|return_|^dtype)"
)
# Lists of integers that are sizes, one per stage or dimension.
LISTED = re.compile(
    r"(hidden|dim|embed|channel|depth|size|width|kernel|heads|stride|ratio|num\w*_(layers|blocks)$)"
)
# Fields that count layers; default widths fit each other and cost nothing on meta, so only depth is cut.
DEPTH = re.compile(
    r"^(num_(hidden_)?layers|n_layers?|num_.*_layers|.*_num_(hidden_)?layers|n_head_layers|.*_layers|depth"
    r"|.*_depth|num_blocks|num_.*blocks|n_blocks|layers|.*num_layers.*|num_hidden_layers.*)$"
)
NOT_DEPTH = re.compile(
    r"(layer_norm|layerdrop|out_|return_|feature_|use_|apply|share|skip|no_rope|deepstack|fusion|_at_layers"
    r"|sliding|num_kv_shared|first_|selected|encoder_to|hash|mlp_only|global_attn|extract|conv|postnet|prenet"
    r"|predict|interleav|cross_attention_layers|taps|aux|num_feature)"
)
EXPERTS = re.compile(r"^(.*num_experts|.*n_routed_experts|num_local_experts|n_experts|num_routed_experts)$")
CHOSEN = re.compile(
    r"(num_experts_per_tok|top_k_experts|moe_k|moe_top_?k|num_selected_experts|experts_per_token)"
)
GROUPS = ("n_group", "moe_num_groups", "num_expert_groups")
LAYER_LIST = re.compile(r"(layer|block|pattern)")
# Layer counts that hold at least one layer of what starts there.
STARTS = ("first_k_dense_replace", "moe_layer_start_index")

LAYERS = 2
EXPERTS_KEPT = 8  # more than the usual top-k, so that balanced routing leaves experts to choose from

# Fields that are the sum of others in configs that have the first field named; kept in step with them.
DERIVED: dict[str, tuple[str, tuple[str, ...]]] = {
    # multi-head latent attention: a head is a plain part and a rotated part, the latter's width is called
    # head_dim for the rotary embedding, and every query head has its key and value
    "qk_head_dim": ("kv_lora_rank", ("qk_nope_head_dim", "qk_rope_head_dim")),
    "head_dim": ("kv_lora_rank", ("qk_rope_head_dim",)),
    "num_key_value_heads": ("kv_lora_rank", ("num_attention_heads",)),
}


def hint_of(size: int) -> int:
    """The number behind a size that may be symbolic."""
    node = getattr(size, "node", None)
    return int(node.hint) if node is not None else size


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
        raise NoRecipe(config_class.__name__, f"its config cannot be made: {error}") from error
    put(config, parts(config), settings or {})
    put(config, parts(config), mends or {}, new=True)
    for name, value in REPAIRS.get(config.model_type, {}).items():
        if config.__dict__.get(name) is None:
            config.__dict__[name] = value
    for part in parts(config):
        if not deep:
            _cut_depth(part)
        _cut_experts(part)
        _share_heads(part)
        part.__dict__["return_dict"] = True
        if "pad_token_id" in part.__dict__:  # in every vocabulary, and among no made input
            part.__dict__["pad_token_id"] = 0
    return config


def read_config(file: Path) -> dict[str, object]:
    """The fields in a config file, which holds one JSON object."""
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
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
        derived = [name for name in DERIVED if _is_derived(part, name)]  # while all of them are numbers
        for name, value in list(part.__dict__.items()):
            if name.startswith("_") or SKIPPED.search(name) or name in derived or _is_stages(part, name):
                continue
            if is_size(value):
                full = prefix + name
                part.__dict__[name] = sizes(full, value, meanings.get(name, ""), f"config.{full}")
                _follow_depth(part, name, value)
            elif _is_size_list(name, value):
                part.__dict__[name] = type(value)(
                    sizes(f"{prefix}{name}.{i}", x, meanings.get(name, ""), f"config.{prefix}{name}[{i}]")
                    if x >= 2
                    else x
                    for i, x in enumerate(value)
                )
        for name in derived:
            part.__dict__[name] = sum(part.__dict__[term] for term in DERIVED[name][1])


def _is_stages(config: PreTrainedConfig, name: str) -> bool:
    """Whether a field counts the stages that `depths` lists."""
    fields = config.__dict__
    return "layer" in name and "depths" in fields and fields[name] == len(fields["depths"])


def _is_derived(config: PreTrainedConfig, name: str) -> bool:
    """Whether a field is the sum of others: in a config that has the first field named, and as it stands."""
    owner, terms = DERIVED.get(name, ("", ()))
    fields = config.__dict__
    if not (terms and all(isinstance(fields.get(field), int) for field in (name, owner, *terms))):
        return False
    return bool(fields[name] == sum(fields[term] for term in terms))


def is_size(value: object) -> bool:
    """An integer from 2 on: 0 and 1 switch something off or broadcast, which is a regime and no size."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 2


def _is_size_list(name: str, value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and 0 < len(value) <= 8
        and LISTED.search(name) is not None
        and all(isinstance(x, int) and not isinstance(x, bool) for x in value)
    )


def _cut_depth(config: PreTrainedConfig) -> None:
    """The smallest prefix of the layers that holds every kind of layer, at least LAYERS."""
    if "depths" in config.__dict__:  # layers per stage: the number of stages is the list's length
        return
    kept = _shortest_prefix(config)
    if config.__dict__.get("num_kv_shared_layers"):  # the last layers take keys and values from earlier ones
        kept += 1
        config.__dict__["num_kv_shared_layers"] = 1
    for name, value in list(config.__dict__.items()):
        if is_size(value) and DEPTH.match(name) and not NOT_DEPTH.search(name) and value > kept:
            _resize_layer_lists(config, value, kept)
            config.__dict__[name] = kept


def _shortest_prefix(config: PreTrainedConfig) -> int:
    kept = LAYERS
    listed = [v for n, v in config.__dict__.items() if LAYER_LIST.search(n)]
    listed.append(getattr(config, "layers_block_type", None))  # a property of hybrid configs
    for value in listed:
        if isinstance(value, list | tuple) and len(value) >= 4 and all(isinstance(x, str) for x in value):
            kept = max(kept, *(value.index(kind) + 1 for kind in set(value)))
    for name in STARTS:
        start = config.__dict__.get(name)
        if is_size(start) or start == 1:
            kept = max(kept, min(cast(int, start) + 1, 6))
    return kept


def _follow_depth(config: PreTrainedConfig, name: str, hint: int) -> None:
    """Lists with one word per layer get as long as the number of layers that was answered."""
    if DEPTH.match(name) and not NOT_DEPTH.search(name):
        _resize_layer_lists(config, hint, hint_of(config.__dict__[name]))


def _resize_layer_lists(config: PreTrainedConfig, before: int, after: int) -> None:
    for name, value in list(config.__dict__.items()):
        if (
            isinstance(value, list)
            and len(value) == before != after
            and LAYER_LIST.search(name)
            and all(isinstance(x, str) for x in value)
        ):
            config.__dict__[name] = [value[i % before] for i in range(after)]


def _share_heads(config: PreTrainedConfig) -> None:
    """Fewer heads of keys than of queries where the default has as many: that is the special case.

    Equal counts skip what grouped queries run (repeated keys where a head is wider than fused kernels take).
    """
    fields = config.__dict__
    heads, shared = fields.get("num_attention_heads"), fields.get("num_key_value_heads")
    if _is_derived(config, "num_key_value_heads") or not is_size(heads) or heads != shared:
        return
    if cast(int, heads) % 4 == 0:
        fields["num_key_value_heads"] = cast(int, heads) // 4


def _cut_experts(config: PreTrainedConfig) -> None:
    fields = config.__dict__
    chosen = max([v for n, v in fields.items() if CHOSEN.search(n) and is_size(v)], default=1)
    groups = max([fields[n] for n in GROUPS if is_size(fields.get(n))], default=1)
    kept = max(EXPERTS_KEPT, 2 * chosen, 2 * groups)  # two experts for every choice and in every group
    for name, value in list(fields.items()):
        if is_size(value) and EXPERTS.match(name) and value > kept:
            fields[name] = kept


_DOCUMENTED = re.compile(r"^[ \t]+(\w+) \(`[^)]*\):\s*\n\s+(.+)$", re.MULTILINE)


@lru_cache(maxsize=64)
def _meanings(docstring: str) -> dict[str, str]:
    """What a config's docstring says of each field, one line each."""
    return {name: text.strip() for name, text in _DOCUMENTED.findall(docstring)}
