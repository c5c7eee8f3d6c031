"""Encoders and encoder-decoders of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import torch
from benchmarks.hand.build import random_tensor, rows, rows_without_mask, with_config
from benchmarks.hand.case import Case, Inputs, Sizes
from benchmarks.hand.points import STATES, TEXT, heads

MODELS: Final = "transformers.models"
BERT: Final = f"{MODELS}.bert.modeling_bert"
ELECTRA: Final = f"{MODELS}.electra.modeling_electra"
DEBERTA: Final = f"{MODELS}.deberta_v2.modeling_deberta_v2"
LABELS: Final = tuple(one | {"num_labels": labels} for one, labels in zip(TEXT, (3, 5), strict=True))
BUCKETS: Final = tuple(one | {"position_buckets": buckets} for one, buckets in zip(TEXT, (4, 3), strict=True))
NARROW: Final = (
    {"batch_size": 2, "seq_len": 5, "src_len": 8, "tgt_len": 5, "dim": 12, "hidden_dim": 28, "d_kv": 7}
    | {"d_model": 24, "d_ff": 26, "num_heads": 5, "encoder_attention_heads": 6}
    | {"decoder_attention_heads": 4, "encoder_ffn_dim": 28, "decoder_ffn_dim": 34},
    {"batch_size": 3, "seq_len": 7, "src_len": 6, "tgt_len": 4, "dim": 15, "hidden_dim": 22, "d_kv": 9}
    | {"d_model": 20, "d_ff": 35, "num_heads": 3, "encoder_attention_heads": 4}
    | {"decoder_attention_heads": 5, "encoder_ffn_dim": 33, "decoder_ffn_dim": 26},
)
SQUARES: Final = "4 * {batch_size} * {seq_len} * {hidden_size} * (2 * {hidden_size} + {seq_len})"
RELATIVE: Final[dict[str, object]] = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}


def rows_and_mask(sizes: Sizes) -> Inputs:
    """A sequence and a mask that hides nothing."""
    mask = torch.ones(sizes.batch_size, 1, sizes.seq_len, sizes.seq_len, dtype=torch.bool)
    return (random_tensor(sizes, "batch_size", "seq_len", "hidden_size"), mask), {}


def rows_with_distances(sizes: Sizes) -> Inputs:
    """The same, and a table with a row for each bucket of distances to either side."""
    positional, _ = rows_and_mask(sizes)
    return positional, {"rel_embeddings": random_tensor(sizes, 2 * sizes.position_buckets, "hidden_size")}


def between(width: str) -> Callable[[Sizes], Inputs]:
    """Target positions that attend to source positions."""

    def inputs(sizes: Sizes) -> Inputs:
        states = random_tensor(sizes, "batch_size", "tgt_len", width)
        return (states,), {"key_value_states": random_tensor(sizes, "batch_size", "src_len", width)}

    return inputs


def rows_with_encoder(sizes: Sizes) -> Inputs:
    """A sequence in the decoder, and the states of the encoder that it attends to."""
    states = random_tensor(sizes, "batch_size", "seq_len", "d_model")
    return (states,), {"encoder_hidden_states": random_tensor(sizes, "batch_size", "src_len", "d_model")}


CASES: Final = (
    Case(
        f"{BERT}.BertSelfAttention",
        "2 * {batch_size} * {seq_len} * {hidden_size} * (3 * {hidden_size} + 2 * {seq_len})",
        "three square projections; the one of the output is another class",
        with_config("BertConfig"),
        rows("hidden_size"),
        TEXT,
        relations=heads("attention_head_size"),
        weights="3 * {hidden_size} * ({hidden_size} + 1) * {w_dtype_bytes}",
    ),
    Case(
        f"{BERT}.BertLayer",
        "4 * {batch_size} * {seq_len} * {hidden_size} * (2 * {hidden_size} + {seq_len} + "
        "{intermediate_size})",
        "attention with its output, and two products with intermediate_size; biases and two norms",
        with_config("BertConfig"),
        rows("hidden_size"),
        TEXT,
        relations=heads("attention_head_size"),
        weights="({hidden_size} * (4 * {hidden_size} + 2 * {intermediate_size} + 9) + {intermediate_size}) "
        "* {w_dtype_bytes}",
    ),
    Case(
        f"{BERT}.BertIntermediate",
        "2 * {batch_size} * {seq_len} * {hidden_size} * {intermediate_size}",
        "one product; its bias and GELU",
        with_config("BertConfig"),
        rows("hidden_size"),
        TEXT,
        weights="({hidden_size} + 1) * {intermediate_size} * {w_dtype_bytes}",
        pointwise_ops="2 * {batch_size} * {seq_len} * {intermediate_size}",
    ),
    Case(
        f"{BERT}.BertPooler",
        "2 * {batch_size} * {hidden_size} * {hidden_size}",
        "the first position alone; its bias and tangent",
        with_config("BertConfig"),
        rows("hidden_size"),
        TEXT,
        weights="{hidden_size} * ({hidden_size} + 1) * {w_dtype_bytes}",
        pointwise_ops="2 * {batch_size} * {hidden_size}",
    ),
    Case(
        f"{MODELS}.distilbert.modeling_distilbert.FFN",
        "4 * {batch_size} * {seq_len} * {dim} * {hidden_dim}",
        "there and back; a bias and GELU on hidden_dim, a bias on dim",
        with_config("DistilBertConfig"),
        rows("dim"),
        NARROW,
        weights="(2 * {dim} * {hidden_dim} + {hidden_dim} + {dim}) * {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {seq_len} * (2 * {hidden_dim} + {dim})",
    ),
    Case(
        f"{ELECTRA}.ElectraDiscriminatorPredictions",
        "2 * {batch_size} * {seq_len} * {hidden_size} * ({hidden_size} + 1)",
        "a square product with bias and GELU, then one number a position, with a bias",
        with_config("ElectraConfig"),
        rows("hidden_size"),
        TEXT,
        weights="({hidden_size} * ({hidden_size} + 2) + 1) * {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {seq_len} * (2 * {hidden_size} + 1)",
    ),
    Case(
        f"{ELECTRA}.ElectraClassificationHead",
        "2 * {batch_size} * {hidden_size} * ({hidden_size} + {num_labels})",
        "the first position alone",
        with_config("ElectraConfig", also="num_labels"),
        rows("hidden_size"),
        (LABELS[0], LABELS[1]),
        weights="({hidden_size} + 1) * ({hidden_size} + {num_labels}) * {w_dtype_bytes}",
        pointwise_ops="{batch_size} * (2 * {hidden_size} + {num_labels})",
    ),
    Case(
        f"{DEBERTA}.DebertaV2Attention",
        SQUARES,
        "four square projections and dense attention where distances are not attended to (the default)",
        with_config("DebertaV2Config"),
        rows_and_mask,
        TEXT,
        relations=heads("attention_head_size"),
    ),
    Case(
        f"{DEBERTA}.DisentangledSelfAttention",
        "2 * {hidden_size} * ({batch_size} * {seq_len} * (3 * {hidden_size} + 2 * {seq_len} "
        "+ 4 * {position_buckets}) + 4 * {position_buckets} * {hidden_size})",
        "three projections and attention; a table of 2 position_buckets rows is projected twice, to keys "
        "and to "
        "queries, and both meet every position",
        with_config("DebertaV2Config", also="position_buckets", given=RELATIVE),
        rows_with_distances,
        (BUCKETS[0], BUCKETS[1]),
        call="relative attention, c2p and p2c",
        relations=heads("attention_head_size"),
    ),
    Case(
        f"{MODELS}.t5.modeling_t5.T5Attention",
        "4 * {batch_size} * {seq_len} * {num_heads} * {d_kv} * (2 * {d_model} + {seq_len})",
        "four projections between d_model and all heads; positions are looked up",
        with_config("T5Config"),
        rows("d_model"),
        NARROW,
        weights="4 * {d_model} * {num_heads} * {d_kv} * {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.t5.modeling_t5.T5Attention",
        "4 * {batch_size} * {num_heads} * {d_kv} * ({d_model} * ({tgt_len} + {src_len}) + {tgt_len} * "
        "{src_len})",
        "queries and output are projected at tgt_len positions, keys and values at src_len",
        with_config("T5Config"),
        between("d_model"),
        NARROW,
        call="cross attention",
        weights="4 * {d_model} * {num_heads} * {d_kv} * {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.t5.modeling_t5.T5LayerFF",
        "4 * {batch_size} * {seq_len} * {d_model} * {d_ff}",
        "there and back without biases; a norm of 4 an element and 2 a row, ReLU, the sum with the input",
        with_config("T5Config"),
        rows("d_model"),
        NARROW,
        weights="{d_model} * (2 * {d_ff} + 1) * {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {seq_len} * (5 * {d_model} + {d_ff} + 2)",
    ),
    Case(
        f"{MODELS}.bart.modeling_bart.BartAttention",
        "4 * {batch_size} * {seq_len} * {embed_dim} * (2 * {embed_dim} + {seq_len})",
        "four square projections and dense attention",
        with_config("BartConfig", "embed_dim", "num_heads"),
        rows("embed_dim"),
        STATES,
        relations=heads(number="num_heads", width="embed_dim"),
        weights="4 * {embed_dim} * ({embed_dim} + 1) * {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.bart.modeling_bart.BartEncoderLayer",
        "4 * {batch_size} * {seq_len} * {d_model} * (2 * {d_model} + {seq_len} + {encoder_ffn_dim})",
        "attention and two products with encoder_ffn_dim",
        with_config("BartConfig"),
        rows_without_mask("d_model"),
        NARROW,
        weights="({d_model} * (4 * {d_model} + 2 * {encoder_ffn_dim} + 9) + {encoder_ffn_dim}) "
        "* {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.bart.modeling_bart.BartDecoderLayer",
        "4 * {batch_size} * {d_model} * ({seq_len} * (3 * {d_model} + {seq_len} + {src_len} "
        "+ {decoder_ffn_dim}) + {d_model} * {src_len})",
        "attention to itself; to the encoder, whose states are projected to keys and values; two products",
        with_config("BartConfig", layer_idx=0),
        rows_with_encoder,
        NARROW,
        call="cross attention",
    ),
)
