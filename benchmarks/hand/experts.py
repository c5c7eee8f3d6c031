"""Mixtures of experts, attention with latent keys and values, and heads over a vocabulary."""

from __future__ import annotations

from typing import Final

import torch
from benchmarks.hand.build import decode, random_tensor, rotary, rows, with_config
from benchmarks.hand.case import Case, Inputs, Sizes

MODELS: Final = "transformers.models"
DEEPSEEK: Final = f"{MODELS}.deepseek_v3.modeling_deepseek_v3"
EXPERTS: Final = (
    {"batch_size": 2, "seq_len": 5, "num_tokens": 9, "top_k": 3, "num_experts_per_tok": 4, "hidden_size": 12}
    | {"intermediate_size": 28, "moe_intermediate_size": 10, "num_local_experts": 5, "num_experts": 5},
    {"batch_size": 3, "seq_len": 7, "num_tokens": 13, "top_k": 2, "num_experts_per_tok": 5, "hidden_size": 20}
    | {"intermediate_size": 22, "moe_intermediate_size": 6, "num_local_experts": 8, "num_experts": 8},
)
GROUPS: Final = {"n_group": 1, "topk_group": 1}
SHARED: Final = tuple(
    one | GROUPS | {"n_shared_experts": shared} for one, shared in zip(EXPERTS, (1, 2), strict=True)
)
LATENT: Final = (
    {"batch_size": 2, "seq_len": 5, "kv_len": 9, "hidden_size": 24, "num_attention_heads": 3}
    | {"num_key_value_heads": 3, "q_lora_rank": 10, "kv_lora_rank": 7, "qk_nope_head_dim": 5}
    | {"qk_rope_head_dim": 4, "v_head_dim": 11, "intermediate_size": 28},
    {"batch_size": 3, "seq_len": 7, "kv_len": 4, "hidden_size": 20, "num_attention_heads": 4}
    | {"num_key_value_heads": 4, "q_lora_rank": 6, "kv_lora_rank": 13, "qk_nope_head_dim": 8}
    | {"qk_rope_head_dim": 6, "v_head_dim": 5, "intermediate_size": 33},
)
LANGUAGE: Final = (
    {"batch_size": 2, "seq_len": 5, "vocab_size": 37, "num_hidden_layers": 3, "hidden_size": 24}
    | {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 10, "intermediate_size": 28},
    {"batch_size": 3, "seq_len": 7, "vocab_size": 29, "num_hidden_layers": 2, "hidden_size": 32}
    | {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 6, "intermediate_size": 44},
)
WORDLESS: Final[dict[str, object]] = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
QK: Final = {"qk_head_dim": "{qk_nope_head_dim} + {qk_rope_head_dim}"}
LATENT_WEIGHTS: Final = (
    "({q_lora_rank} * ({hidden_size} + {num_attention_heads} * {qk_head_dim} + 1) "
    "+ {hidden_size} * ({kv_lora_rank} + {qk_rope_head_dim}) "
    "+ {kv_lora_rank} * ({num_attention_heads} * ({qk_nope_head_dim} + {v_head_dim}) + 1) "
    "+ {num_attention_heads} * {v_head_dim} * {hidden_size}) * {w_dtype_bytes}"
)


def tokens_with_experts(sizes: Sizes) -> Inputs:
    """Tokens, the experts that each goes to and how much each of those counts."""
    scores = torch.rand(sizes.num_tokens, sizes.num_local_experts)
    weights, places = scores.topk(sizes.top_k)
    return (random_tensor(sizes, "num_tokens", "hidden_size"), places, weights), {}


def latent_rows(sizes: Sizes) -> Inputs:
    """A sequence; rotation is of qk_rope_head_dim numbers."""
    rotation = rotary(sizes, sizes.seq_len, "qk_rope_head_dim")
    states = random_tensor(sizes, "batch_size", "seq_len", "hidden_size")
    return (states,), {"position_embeddings": rotation, "attention_mask": None}


def words(sizes: Sizes) -> Inputs:
    """Rows of a vocabulary."""
    return (torch.randint(sizes.vocab_size, (sizes.batch_size, sizes.seq_len)),), {}


CASES: Final = (
    Case(
        f"{MODELS}.mixtral.modeling_mixtral.MixtralExperts",
        "6 * {num_tokens} * {top_k} * {hidden_size} * {intermediate_size}",
        "each token goes to top_k experts, each of three products; how many experts there are costs nothing",
        with_config("MixtralConfig"),
        tokens_with_experts,
        EXPERTS,
    ),
    Case(
        f"{MODELS}.mixtral.modeling_mixtral.MixtralSparseMoeBlock",
        "2 * {batch_size} * {seq_len} * {hidden_size} "
        "* ({num_local_experts} + 3 * {num_experts_per_tok} * {intermediate_size})",
        "the router scores all experts; each token goes to num_experts_per_tok of them",
        with_config("MixtralConfig"),
        rows("hidden_size"),
        EXPERTS,
    ),
    Case(
        f"{MODELS}.qwen3_moe.modeling_qwen3_moe.Qwen3MoeExperts",
        "6 * {num_tokens} * {top_k} * {hidden_size} * {moe_intermediate_size}",
        "as Mixtral's, with a width of the experts' own",
        with_config("Qwen3MoeConfig"),
        tokens_with_experts,
        EXPERTS,
    ),
    Case(
        f"{MODELS}.qwen3_moe.modeling_qwen3_moe.Qwen3MoeSparseMoeBlock",
        "2 * {batch_size} * {seq_len} * {hidden_size} "
        "* ({num_experts} + 3 * {num_experts_per_tok} * {moe_intermediate_size})",
        "as Mixtral's, with a width of the experts' own",
        with_config("Qwen3MoeConfig"),
        rows("hidden_size"),
        EXPERTS,
    ),
    Case(
        f"{DEEPSEEK}.DeepseekV3MoE",
        "2 * {batch_size} * {seq_len} * {hidden_size} "
        "* ({num_local_experts} + 3 * {moe_intermediate_size} * ({num_experts_per_tok} + "
        "{n_shared_experts}))",
        "the router; the chosen experts; and the shared ones, which are one gated layer as wide as all "
        "of them",
        with_config("DeepseekV3Config"),
        rows("hidden_size"),
        (SHARED[0], SHARED[1]),
    ),
    Case(
        f"{DEEPSEEK}.DeepseekV3Attention",
        "2 * {batch_size} * {seq_len} * ({q_lora_rank} * ({hidden_size} + {num_attention_heads} * "
        "{qk_head_dim}) "
        "+ {hidden_size} * ({kv_lora_rank} + {qk_rope_head_dim}) + {num_attention_heads} * ({kv_lora_rank} "
        "* ({qk_nope_head_dim} + {v_head_dim}) + {seq_len} * ({qk_head_dim} + {v_head_dim}) "
        "+ {v_head_dim} * {hidden_size}))",
        "queries go through q_lora_rank, keys and values through kv_lora_rank and are expanded for every "
        "head",
        with_config("DeepseekV3Config", layer_idx=0),
        latent_rows,
        LATENT,
        where=QK,
        weights=LATENT_WEIGHTS,
    ),
    Case(
        f"{DEEPSEEK}.DeepseekV3Attention",
        "2 * {batch_size} * ({q_lora_rank} * ({hidden_size} + {num_attention_heads} * {qk_head_dim}) "
        "+ {hidden_size} * ({kv_lora_rank} + {qk_rope_head_dim}) + {num_attention_heads} * (({kv_len} + 1) "
        "* ({kv_lora_rank} * ({qk_nope_head_dim} + {v_head_dim}) + {qk_head_dim} + {v_head_dim}) "
        "+ {v_head_dim} * {hidden_size}))",
        "the cache holds latents: those of all positions are expanded again for every head",
        with_config("DeepseekV3Config", layer_idx=0),
        decode((1, "kv_lora_rank"), (1, "qk_rope_head_dim"), dim="qk_rope_head_dim"),
        LATENT,
        call="decode",
        where=QK,
        weights=LATENT_WEIGHTS,
    ),
    Case(
        f"{DEEPSEEK}.DeepseekV3MLP",
        "6 * {batch_size} * {seq_len} * {hidden_size} * {intermediate_size}",
        "gate, up and down are three products of every row; the activation and a product in between",
        with_config("DeepseekV3Config"),
        rows("hidden_size"),
        LATENT,
        weights="3 * {hidden_size} * {intermediate_size} * {w_dtype_bytes}",
        pointwise_ops="2 * {batch_size} * {seq_len} * {intermediate_size}",
    ),
    Case(
        f"{MODELS}.llama.modeling_llama.LlamaForCausalLM",
        "2 * {batch_size} * {seq_len} * ({hidden_size} * {vocab_size} + {num_hidden_layers} * (2 * "
        "{head_dim} "
        "* ({num_attention_heads} * ({seq_len} + {hidden_size}) + {num_key_value_heads} * {hidden_size}) "
        "+ 3 * {hidden_size} * {intermediate_size}))",
        "its layers, then lm_head at every position; words are looked up, angles are no contraction",
        with_config("LlamaConfig", given=WORDLESS),
        words,
        LANGUAGE,
    ),
    Case(
        f"{MODELS}.bert.modeling_bert.BertOnlyMLMHead",
        "2 * {batch_size} * {seq_len} * {hidden_size} * ({hidden_size} + {vocab_size})",
        "a square product, then one with the vocabulary; a bias each, GELU 1 and the norm 8 an element; the "
        "head's own bias is not used",
        with_config("BertConfig", given=WORDLESS),
        rows("hidden_size"),
        LANGUAGE,
        weights="({hidden_size} * ({hidden_size} + {vocab_size} + 3) + {vocab_size}) * {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {seq_len} * (10 * {hidden_size} + {vocab_size})",
    ),
)
