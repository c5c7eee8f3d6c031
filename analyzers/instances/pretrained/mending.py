"""A config that no model could be built from, and the error; out the settings that the error asks for.

The line that raised, and the message, name fields: those that are None or absent are given a value, from the
other fields, from another config of the family that has the field, or by their name. Each is a setting, which
the way's name tells.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.library import is_config_class
from forwardbook.analyzers.instances.pretrained.raised import lines_of, named_fields
from forwardbook.analyzers.instances.pretrained.rotary import ROTARY

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

LENGTH = 24
# Fields that may be None, by name, and what a model that needs them takes.
FILLED: tuple[tuple[str, object], ...] = (
    (r"(prediction|context)_length", LENGTH),
    (r"vocab_size", 64),
    (r"(moe_)?num_(local_)?experts|n_routed_experts|num_routed_experts", 8),
    (r"(num_)?experts_per_tok(en)?|top_k_experts|num_experts_per_tok|top_k", 2),
    (r"n_shared_experts|num_shared_experts|n_group|topk_group", 1),
    (r".*(drop|dropout)(_rate|_prob)?|.*_dropout|drop.*", 0.0),
    (r".*eps|.*epsilon", 1e-6),
    (r"clip_.*", 8.0),
    (r"rope_theta", 10000.0),
    (r"rope_parameters", {"rope_type": "default", "rope_theta": 10000.0}),
    (r".*(ratio|factor|stride)", 2),
    (r".*(rank|budget|window|chunk_size|block_size)", 16),
    (r".*(size|dim)", 64),
    (r".*_token_(id|index)", 7),  # of no made text: those hold the six tokens before it
    (r"backbone", "resnet18"),  # the smallest network of timm that others are built on
    (r"use_.*|is_.*|has_.*|.*_bias", False),
    (r".*heads", 4),
    (r"num_.*", 2),
)
_HEADS = ("num_attention_heads", "num_heads", "n_head", "decoder_attention_heads")
_WIDTHS = ("hidden_size", "d_model", "n_embd")
_LAYERS = ("num_hidden_layers", "num_layers", "n_layer")
_ABSENT = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
_DIVISIBLE = re.compile(r"\((\d+)\) must be divisible by \w+ \((\d+)\)")
_HEADS_READ = re.compile(r"config\.(\w*heads\w*)")
_KEYS = re.compile(r"\bk_(proj|norm|ln)|num_key_value_heads|key_states")


def mended(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> dict[str, object]:
    """Settings to add, by their paths (`vision_config.head_dim`); none where the error tells of no field."""
    found: dict[str, object] = {}
    absent = _ABSENT.search(str(error))
    for prefix, part in parts.items():
        if absent and type(part).__name__ == absent[1]:
            value = _value(part, absent[2])
            return {} if value is None else {prefix + absent[2]: value}
        for said in named_fields(error):
            name = type(part).attribute_map.get(said, said)
            if name in part.__dict__ and part.__dict__[name] is None:
                filled = _filled(part, name)
                if filled:
                    return {prefix + field: value for field, value in filled.items()}
                value = _value(part, name)
                if value is not None:
                    found[prefix + name] = value
                if isinstance(value, list):
                    found |= {prefix + other: _value(part, other) for other in _beside(part, name)}
    others = (_divided, _replaced, _emptied, _specified, _listed, *ROTARY, _heads)
    return found or next((told for one in others if (told := dict(one(parts, error)))), {})


def _filled(config: PreTrainedConfig, name: str) -> dict[str, object]:
    """What a config itself puts under a name, and under others, where one of its flags is set."""
    kind = cast("Callable[..., PreTrainedConfig]", type(config))
    flags = (n for n, hint in getattr(kind, "__annotations__", {}).items() if "bool" in str(hint))
    for flag in (one for one in flags if config.__dict__.get(one) is False):
        try:
            fields = kind(**{flag: True}).__dict__
        except Exception:  # noqa: S112 - configs of the library's own raise anything
            continue
        if fields.get(name) is not None:
            before = kind().__dict__
            new = {n: value for n, value in fields.items() if before.get(n) is None and value is not None}
            return {**new, flag: True}
    return {}


def _value(config: PreTrainedConfig, name: str) -> object:
    """A value for a field; None where nothing is known."""
    fields = config.__dict__
    heads = _first(fields, _HEADS)
    if name == "head_dim" and heads and _first(fields, _WIDTHS):
        return _first(fields, _WIDTHS) // heads
    if name == "num_key_value_heads" and heads:
        return heads
    if name.endswith("_head_dim") and isinstance(fields.get("head_dim"), int):
        return fields["head_dim"]  # what turns one turns the other
    if name.endswith("layer_types"):
        word = "sparse" if name.startswith("mlp") else "full_attention"
        return [word] * (_first(fields, _LAYERS) or 2)
    if _lists_numbers(config, name):
        return [3, 3] if "kernel" in name else [64, 32]
    part = _part(config, name)
    if part is not None:
        return part
    for value in _siblings(config, name):
        return value
    return next((value for pattern, value in FILLED if re.fullmatch(pattern, name)), None)


def _lists_numbers(config: PreTrainedConfig, name: str) -> bool:
    """Whether a field is said to hold whole numbers in a list: widths of two layers, say."""
    return "list[int]" in str(getattr(type(config), "__annotations__", {}).get(name, ""))


def _beside(config: PreTrainedConfig, name: str) -> list[str]:
    """Lists of the same layers that are None, too: the first word of their names is the same."""
    word = name.partition("_")[0]
    fields = (n for n, value in config.__dict__.items() if value is None and n.partition("_")[0] == word)
    return [n for n in fields if n != name and _lists_numbers(config, n)]


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> int:
    return next((v for v in (fields.get(name) for name in names) if isinstance(v, int)), 0)


def _part(config: PreTrainedConfig, name: str) -> object:
    """The default config of the class that the config says a nested one has."""
    spec = (getattr(type(config), "sub_configs_defaults", None) or {}).get(name)
    kind = getattr(spec, "config_class", None)
    if kind is None or kind.__name__ == "AutoConfig":
        hint = str(getattr(type(config), "__annotations__", {}).get(name, ""))
        module = importlib.import_module(type(config).__module__)
        kinds = [v for n, v in vars(module).items() if inspect.isclass(v) and re.search(rf"\b{n}\b", hint)]
        kind = next((one for one in kinds if is_config_class(one)), None)
    try:
        return kind() if kind is not None and kind is not type(config) else None
    except Exception:  # configs of the library's own raise anything
        return None


def _siblings(config: PreTrainedConfig, name: str) -> Iterator[object]:
    """What other configs of the family have under that name by default."""
    module = importlib.import_module(type(config).__module__)
    for other in vars(module).values():
        if inspect.isclass(other) and other is not type(config) and is_config_class(other):
            value = getattr(other, name, None)
            if isinstance(value, int | float | str | bool):
                yield value


def _divided(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """As many heads as divide the width, where the message says that they do not."""
    if "divisible" not in str(error):
        return
    for prefix, part in parts.items():
        width, heads = _first(part.__dict__, _WIDTHS), _first(part.__dict__, _HEADS)
        name = next((n for n in _HEADS if part.__dict__.get(n) == heads), "")
        if width and heads and name and width % heads:
            yield prefix + name, _dividing(width, heads)
    told = _DIVISIBLE.search(str(error))
    if told is None:
        return
    width, heads = int(told[1]), int(told[2])
    for name in _HEADS_READ.findall(lines_of(error)):  # nearest to what raised first
        for prefix, part in parts.items():
            if part.__dict__.get(name) == heads:
                yield prefix + name, _dividing(width, heads)
                return


def _dividing(width: int, heads: int) -> int:
    """The most heads, of so many at most, that divide a width."""
    return next(n for n in range(heads, 0, -1) if width % n == 0)


def _replaced(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """A backbone of transformers' own where the default one is of a package that is not installed."""
    if "TimmBackbone" not in str(error):
        return
    from transformers import ResNetConfig

    for prefix, part in parts.items():
        for name, value in part.__dict__.items():
            if getattr(value, "model_type", "") == "timm_backbone":
                stages = ["stage2", "stage3", "stage4"][-len(getattr(value, "out_indices", None) or [4]) :]
                yield prefix + name, ResNetConfig.from_dict({"out_features": stages})


def _emptied(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """No further arguments for a class that does not take them: they were for the one that it replaces."""
    told = _UNEXPECTED.search(str(error)) if isinstance(error, TypeError) else None
    if told is None:
        return
    for prefix, part in parts.items():
        for name, value in part.__dict__.items():
            if isinstance(value, dict) and told[1] in value:
                yield prefix + name, {}


def _specified(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """The nested config that the config's class specifies, where another kind was made by default."""
    if not isinstance(error, RuntimeError | IndexError):
        return
    from transformers import CONFIG_MAPPING

    for prefix, part in parts.items():
        for name, spec in (getattr(type(part), "sub_configs_defaults", None) or {}).items():
            kind, made = getattr(spec, "model_type", None), getattr(part, name, None)
            if not isinstance(kind, str) or kind not in CONFIG_MAPPING or made is None:
                continue
            if made.model_type != kind:
                yield prefix + name, CONFIG_MAPPING[kind](**(spec.init_kwargs or {}))


def _listed(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """A list where a default is a tuple, and is put behind a list."""
    if 'can only concatenate list (not "tuple") to list' not in str(error):
        return
    for prefix, part in parts.items():
        for name in dict.fromkeys(named_fields(error)):
            if isinstance(part.__dict__.get(name), tuple):
                yield prefix + name, list(part.__dict__[name])


def _heads(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """As many heads of keys as of queries, where shapes of keys do not fit and there are fewer."""
    if not isinstance(error, RuntimeError) or not _KEYS.search(lines_of(error)):
        return
    for prefix, part in parts.items():
        heads, shared = (part.__dict__.get(name) for name in ("num_attention_heads", "num_key_value_heads"))
        if isinstance(heads, int) and isinstance(shared, int) and shared < heads:
            yield prefix + "num_key_value_heads", heads
