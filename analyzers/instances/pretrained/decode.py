"""A causal model in; out a cache that holds `kv_len` entries and the one new token that attends to them."""

from __future__ import annotations

import inspect
from collections.abc import Container
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.library import AUTO, CACHES, INSTALLED, Library
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Sizes

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel
    from transformers.cache_utils import DynamicCache, DynamicLayer

KV_LEN = 23


def can_decode(
    model_class: type[PreTrainedModel], config: PreTrainedConfig, library: Library = INSTALLED
) -> bool:
    """Whether a model continues a sequence from cached keys and values in every layer."""
    names = inspect.signature(model_class.forward).parameters
    causal = (
        config.model_type in cast("Container[str]", library.value(AUTO, "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"))
        and config.__dict__.get("is_decoder") is not False
    )
    if not causal or config.is_encoder_decoder or "past_key_values" not in names or "input_ids" not in names:
        return False
    try:
        layers = _cache(config, library).layers
        _layouts(config.get_text_config(decoder=True))
    except Exception:  # a config that knows no layers, or has no width for all of them, has no plain cache
        return False
    plain = [library.value(CACHES, name) for name in ("DynamicLayer", "DynamicSlidingWindowLayer")]
    return bool(layers) and all(type(layer) in plain for layer in layers)


def _cache(config: PreTrainedConfig, library: Library) -> DynamicCache:
    return cast("type[DynamicCache]", library.value(CACHES, "DynamicCache"))(config=config)


def layouts(config: PreTrainedConfig) -> int:
    """How many ways of caching keys and values are known for such a config."""
    return len(_layouts(config))


def decode_inputs(layout: int, library: Library, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
    """One new token for every sequence and the filled cache."""
    whole = cast("PreTrainedConfig", model.config)
    config = whole.get_text_config(decoder=True)
    batch_size = sizes("batch_size", 3, "independent sequences", "forward")
    kv_len = sizes("kv_len", KV_LEN, "positions already in the key-value cache", "past_key_values")
    heads, key_dim, value_dim = _layouts(config)[layout]
    cache = _cache(whole, library)
    for layer in cast("list[DynamicLayer]", cache.layers):
        layer.update(
            maker.floats((batch_size, heads, kv_len, key_dim)),
            maker.floats((batch_size, heads, kv_len, value_dim)),
        )
    tokens = maker.integers((batch_size, 1), 7, low=1)  # small ids, none of which is padding
    return (), {"input_ids": tokens, "past_key_values": cache, "use_cache": True}


def _layouts(config: PreTrainedConfig) -> tuple[tuple[int, int, int], ...]:
    """Heads, width of a key and width of a value in the cache, likeliest first."""
    if hasattr(config, "kv_lora_rank") and hasattr(config, "qk_nope_head_dim"):
        # multi-head latent attention caches the latent and the rotated part, or what they expand to
        expanded = config.qk_nope_head_dim + config.qk_rope_head_dim
        return (
            (1, config.kv_lora_rank, config.qk_rope_head_dim),
            (config.num_attention_heads, expanded, config.v_head_dim),
        )
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    everywhere = (config.num_attention_heads, head_dim, head_dim)
    return ((heads, head_dim, head_dim), (1, head_dim, head_dim), everywhere)  # 1: multi-query attention
