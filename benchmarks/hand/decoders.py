"""Decoders: attention with shared heads, gated layers, and both in a layer."""

from __future__ import annotations

from typing import Final

import torch
from benchmarks.hand.build import decode, rotary_rows, rows, with_config
from benchmarks.hand.case import Case, Inputs, Sizes
from benchmarks.hand.points import TEXT, heads

MODELS: Final = "transformers.models"
GROUPED: Final = (
    "4 * {batch_size} * {seq_len} * {head_dim} * "
    "({num_attention_heads} * ({seq_len} + {hidden_size}) + {num_key_value_heads} * {hidden_size})"
)
GROUPED_WHY: Final = (
    "queries and output are projected for all heads, keys and values for the shared ones; every head of the "
    "queries meets every position"
)
GROUPED_DECODE: Final = (
    "4 * {batch_size} * {head_dim} * "
    "({num_attention_heads} * ({kv_len} + 1 + {hidden_size}) + {num_key_value_heads} * {hidden_size})"
)
DECODE_WHY: Final = "one position is projected; it meets those in the cache and itself"
SHARED: Final = (
    "4 * {batch_size} * {seq_len} * {hidden_size} * "
    "({hidden_size} + {seq_len} + {num_key_value_heads} * {head_dim})"
)
GATED_WHY: Final = (
    "gate, up and down are three products of every row; the activation and a product in between"
)
GROUPED_WEIGHTS: Final = (
    "2 * {hidden_size} * {head_dim} * ({num_attention_heads} + {num_key_value_heads}) * {w_dtype_bytes}"
)
GATED: Final = "6 * {batch_size} * {seq_len} * {hidden_size} * {intermediate_size}"
GATED_WEIGHTS: Final = "3 * {hidden_size} * {intermediate_size} * {w_dtype_bytes}"
GATED_LAYER: Final = (
    "2 * {batch_size} * {seq_len} * (2 * {head_dim} * ({num_attention_heads} * ({seq_len} + {hidden_size}) "
    "+ {num_key_value_heads} * {hidden_size}) + 3 * {hidden_size} * {intermediate_size})"
)


def rows_with_mask(sizes: Sizes) -> Inputs:
    """Falcon's attention adds a mask in any case; this one hides nothing."""
    (states,), named = rotary_rows()(sizes)
    return (states,), {**named, "alibi": None, "attention_mask": torch.zeros(1, 1, 1, sizes.seq_len)}


CASES: Final = (
    Case(
        f"{MODELS}.llama.modeling_llama.LlamaAttention",
        GROUPED,
        GROUPED_WHY,
        with_config("LlamaConfig", layer_idx=0),
        rotary_rows(),
        TEXT,
        weights=GROUPED_WEIGHTS,
    ),
    Case(
        f"{MODELS}.llama.modeling_llama.LlamaAttention",
        GROUPED_DECODE,
        DECODE_WHY,
        with_config("LlamaConfig", layer_idx=0),
        decode(("num_key_value_heads", "head_dim"), ("num_key_value_heads", "head_dim"), dim="head_dim"),
        TEXT,
        call="decode",
        weights=GROUPED_WEIGHTS,
    ),
    Case(
        f"{MODELS}.llama.modeling_llama.LlamaMLP",
        GATED,
        GATED_WHY,
        with_config("LlamaConfig"),
        rows("hidden_size"),
        TEXT,
        weights=GATED_WEIGHTS,
        pointwise_ops="2 * {batch_size} * {seq_len} * {intermediate_size}",
    ),
    Case(
        f"{MODELS}.llama.modeling_llama.LlamaDecoderLayer",
        GATED_LAYER,
        "attention and the gated layers",
        with_config("LlamaConfig", layer_idx=0),
        rotary_rows(),
        TEXT,
        weights="{hidden_size} * (2 * {head_dim} * ({num_attention_heads} + {num_key_value_heads}) "
        "+ 3 * {intermediate_size} + 2) * {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.mistral.modeling_mistral.MistralAttention",
        GROUPED,
        GROUPED_WHY + ", whatever the window",
        with_config("MistralConfig", layer_idx=0),
        rotary_rows(),
        TEXT,
        weights=GROUPED_WEIGHTS,
    ),
    Case(
        f"{MODELS}.gemma2.modeling_gemma2.Gemma2Attention",
        GROUPED,
        GROUPED_WHY + "; the soft cap is no contraction",
        with_config("Gemma2Config", layer_idx=0),
        rotary_rows(),
        TEXT,
        weights=GROUPED_WEIGHTS,
    ),
    Case(
        f"{MODELS}.gemma2.modeling_gemma2.Gemma2DecoderLayer",
        GATED_LAYER,
        "attention and the gated layers; four norms, of hidden_size weights each",
        with_config("Gemma2Config", layer_idx=0),
        rotary_rows(),
        TEXT,
        weights="{hidden_size} * (2 * {head_dim} * ({num_attention_heads} + {num_key_value_heads}) "
        "+ 3 * {intermediate_size} + 4) * {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.qwen3.modeling_qwen3.Qwen3Attention",
        GROUPED,
        GROUPED_WHY + "; queries and keys of a head are normed",
        with_config("Qwen3Config", layer_idx=0),
        rotary_rows(),
        TEXT,
        weights="2 * {head_dim} * ({hidden_size} * ({num_attention_heads} + {num_key_value_heads}) + 1) "
        "* {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.qwen3_moe.modeling_qwen3_moe.Qwen3MoeAttention",
        GROUPED,
        GROUPED_WHY + "; queries and keys of a head are normed",
        with_config("Qwen3MoeConfig", also="head_dim", layer_idx=0),
        rotary_rows(),
        TEXT,
    ),
    Case(
        f"{MODELS}.olmo2.modeling_olmo2.Olmo2Attention",
        SHARED,
        GROUPED_WHY + "; the config has no width of heads: hidden_size is shared out",
        with_config("Olmo2Config", layer_idx=0),
        rotary_rows(),
        TEXT,
        relations=heads(),
        weights="({hidden_size} + {num_key_value_heads} * {head_dim}) * (2 * {hidden_size} + 1) "
        "* {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.phi.modeling_phi.PhiAttention",
        SHARED,
        GROUPED_WHY,
        with_config("PhiConfig", layer_idx=0),
        rotary_rows("rotary_ndims"),
        TEXT,
        relations=heads(),
    ),
    Case(
        f"{MODELS}.phi.modeling_phi.PhiDecoderLayer",
        "4 * {batch_size} * {seq_len} * {hidden_size} * "
        "({hidden_size} + {seq_len} + {num_key_value_heads} * {head_dim} + {intermediate_size})",
        "attention and two products with intermediate_size, side by side",
        with_config("PhiConfig", layer_idx=0),
        rotary_rows("rotary_ndims"),
        TEXT,
        relations=heads(),
    ),
    Case(
        f"{MODELS}.gpt2.modeling_gpt2.GPT2Attention",
        "4 * {batch_size} * {seq_len} * {hidden_size} * (2 * {hidden_size} + {seq_len})",
        "one product gives queries, keys and values, one the output: four squares; then dense attention",
        with_config("GPT2Config", layer_idx=0),
        rows("hidden_size"),
        TEXT,
        relations=heads(),
        weights="4 * {hidden_size} * ({hidden_size} + 1) * {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.gpt2.modeling_gpt2.GPT2Attention",
        "4 * {batch_size} * {hidden_size} * (2 * {hidden_size} + {kv_len} + 1)",
        DECODE_WHY,
        with_config("GPT2Config", layer_idx=0),
        decode(("num_attention_heads", "head_dim"), ("num_attention_heads", "head_dim")),
        TEXT,
        call="decode",
        relations=heads(),
    ),
    Case(
        f"{MODELS}.gpt2.modeling_gpt2.GPT2MLP",
        "4 * {batch_size} * {seq_len} * {hidden_size} * {intermediate_size}",
        "up and down; two biases, and GELU by its tangent in eight operations",
        with_config("GPT2Config", "intermediate_size"),
        rows("hidden_size"),
        TEXT,
        weights="(2 * {hidden_size} * {intermediate_size} + {intermediate_size} + {hidden_size}) "
        "* {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {seq_len} * (9 * {intermediate_size} + {hidden_size})",
    ),
    Case(
        f"{MODELS}.gpt2.modeling_gpt2.GPT2Block",
        "4 * {batch_size} * {seq_len} * {hidden_size} * (6 * {hidden_size} + {seq_len})",
        "attention, and two products that widen four times where n_inner is not given",
        with_config("GPT2Config", layer_idx=0),
        rows("hidden_size"),
        TEXT,
        relations=heads(),
    ),
    Case(
        f"{MODELS}.gpt_neox.modeling_gpt_neox.GPTNeoXAttention",
        "4 * {batch_size} * {seq_len} * {hidden_size} * (2 * {hidden_size} + {seq_len})",
        "one product gives queries, keys and values, one the output: four squares; then dense attention",
        with_config("GPTNeoXConfig", layer_idx=0),
        rotary_rows("head_size"),
        TEXT,
        relations=heads("head_size"),
        weights="4 * {hidden_size} * ({hidden_size} + 1) * {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.gpt_neox.modeling_gpt_neox.GPTNeoXLayer",
        "4 * {batch_size} * {seq_len} * {hidden_size} * (2 * {hidden_size} + {seq_len} + "
        "{intermediate_size})",
        "attention and two products with intermediate_size",
        with_config("GPTNeoXConfig", layer_idx=0),
        rotary_rows("head_size"),
        TEXT,
        relations=heads("head_size"),
    ),
    Case(
        f"{MODELS}.opt.modeling_opt.OPTAttention",
        "4 * {batch_size} * {seq_len} * {hidden_size} * (2 * {hidden_size} + {seq_len})",
        "four square projections and dense attention",
        with_config("OPTConfig", layer_idx=0),
        rows("hidden_size"),
        TEXT,
        relations=heads(),
        weights="4 * {hidden_size} * ({hidden_size} + 1) * {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.opt.modeling_opt.OPTDecoderLayer",
        "4 * {batch_size} * {seq_len} * {hidden_size} * (2 * {hidden_size} + {seq_len} + {ffn_dim})",
        "attention and two products with ffn_dim",
        with_config("OPTConfig", layer_idx=0),
        rows("hidden_size"),
        TEXT,
        relations=heads(),
    ),
    Case(
        f"{MODELS}.falcon.modeling_falcon.FalconAttention",
        "4 * {batch_size} * {seq_len} * {hidden_size} * ({hidden_size} + {head_dim} + {seq_len})",
        "all heads of queries share one head of keys and values, which is projected once",
        with_config("FalconConfig", layer_idx=0),
        rows_with_mask,
        TEXT,
        relations=heads(),
        weights="2 * {hidden_size} * ({hidden_size} + {head_dim}) * {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.falcon.modeling_falcon.FalconMLP",
        "4 * {batch_size} * {seq_len} * {hidden_size} * {ffn_hidden_size}",
        "up and down without biases; GELU",
        with_config("FalconConfig"),
        rows("hidden_size"),
        TEXT,
        weights="2 * {hidden_size} * {ffn_hidden_size} * {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {seq_len} * {ffn_hidden_size}",
    ),
)
