"""Layers of torch.nn, from their equations."""

from __future__ import annotations

from typing import Final

import torch
from benchmarks.hand.build import random_tensor, rows, tensor, with_arguments
from benchmarks.hand.case import PRODUCTS, UNFUSED, Case, Inputs, Sizes

LINEAR: Final = (
    {"batch_size": 2, "seq_len": 5, "in_features": 7, "out_features": 11, "nx": 8, "nf": 10},
    {"batch_size": 3, "seq_len": 4, "in_features": 12, "out_features": 6, "nx": 9, "nf": 13},
)
TABLES: Final = (
    {"batch_size": 2, "seq_len": 5, "num_embeddings": 23, "embedding_dim": 7, "normalized_shape": 12},
    {"batch_size": 3, "seq_len": 4, "num_embeddings": 17, "embedding_dim": 6, "normalized_shape": 9},
)
BILINEAR: Final = (
    {"batch_size": 3, "in1_features": 5, "in2_features": 7, "out_features": 4},
    {"batch_size": 2, "in1_features": 9, "in2_features": 4, "out_features": 11},
)
RECURRENT: Final = (
    {"batch_size": 2, "seq_len": 5, "input_size": 7, "hidden_size": 6},
    {"batch_size": 3, "seq_len": 4, "input_size": 5, "hidden_size": 9},
)
HEADS: Final = (
    {"batch_size": 2, "seq_len": 5, "embed_dim": 24, "num_heads": 6, "tgt_len": 5, "src_len": 8},
    {"batch_size": 3, "seq_len": 7, "embed_dim": 20, "num_heads": 4, "tgt_len": 6, "src_len": 3},
)
ENCODER: Final = (
    {"batch_size": 2, "seq_len": 5, "d_model": 24, "nhead": 6, "dim_feedforward": 14},
    {"batch_size": 3, "seq_len": 7, "d_model": 20, "nhead": 4, "dim_feedforward": 33},
)


def indices(sizes: Sizes) -> Inputs:
    """Rows to look up in a table."""
    return (torch.randint(sizes.num_embeddings, (sizes.batch_size, sizes.seq_len)),), {}


def pairs(sizes: Sizes) -> Inputs:
    """The two inputs of a bilinear map."""
    return (
        random_tensor(sizes, "batch_size", "in1_features"),
        random_tensor(sizes, "batch_size", "in2_features"),
    ), {}


def itself(sizes: Sizes) -> Inputs:
    """A sequence that attends to itself, positions first."""
    states = random_tensor(sizes, "seq_len", "batch_size", "embed_dim")
    return (states, states, states), {}


def across(sizes: Sizes) -> Inputs:
    """Target positions that attend to source positions."""
    source = random_tensor(sizes, "src_len", "batch_size", "embed_dim")
    return (random_tensor(sizes, "tgt_len", "batch_size", "embed_dim"), source, source), {}


CASES: Final = (
    Case(
        "torch.nn.Linear",
        "2 * {batch_size} * {seq_len} * {in_features} * {out_features}",
        "each of the outputs of every row sums in_features products; the bias is an addition each",
        with_arguments("in_features", "out_features"),
        rows("in_features"),
        LINEAR,
        weights="{out_features} * ({in_features} + 1) * {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {seq_len} * {out_features}",
    ),
    Case(
        "transformers.pytorch_utils.Conv1D",
        "2 * {batch_size} * {seq_len} * {nx} * {nf}",
        "a linear layer whose matrix is stored transposed",
        with_arguments("nx", "nf"),
        rows("nx"),
        LINEAR,
        weights="{nf} * ({nx} + 1) * {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {seq_len} * {nf}",
    ),
    Case(
        "torch.nn.Bilinear",
        "2 * {batch_size} * {out_features} * {in2_features} * ({in1_features} + 1)",
        "the first input meets each matrix and leaves in2_features numbers, which meet the second input",
        with_arguments("in1_features", "in2_features", "out_features"),
        pairs,
        BILINEAR,
        weights="{out_features} * ({in1_features} * {in2_features} + 1) * {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {out_features}",
        judge=PRODUCTS,
    ),
    Case(
        "torch.nn.Embedding",
        "0",
        "rows are looked up",
        with_arguments("num_embeddings", "embedding_dim"),
        indices,
        TABLES,
        weights="{num_embeddings} * {embedding_dim} * {w_dtype_bytes}",
        pointwise_ops="0",
    ),
    Case(
        "torch.nn.LayerNorm",
        "0",
        "no contraction; 8 an element: sum; subtract, square, sum; subtract, multiply; scale; shift",
        with_arguments("normalized_shape"),
        rows("normalized_shape"),
        TABLES,
        weights="2 * {normalized_shape} * {w_dtype_bytes}",
        pointwise_ops="8 * {batch_size} * {seq_len} * {normalized_shape}",
    ),
    Case(
        "torch.nn.LSTM",
        "8 * {batch_size} * {seq_len} * {hidden_size} * ({input_size} + {hidden_size})",
        "four gates multiply input and state; 2 biases, then 13 operations for each element of the state",
        with_arguments("input_size", "hidden_size"),
        tensor("seq_len", "batch_size", "input_size"),
        RECURRENT,
        weights="4 * {hidden_size} * ({input_size} + {hidden_size} + 2) * {w_dtype_bytes}",
        pointwise_ops="21 * {batch_size} * {seq_len} * {hidden_size}",
        judge=UNFUSED,
    ),
    Case(
        "torch.nn.GRU",
        "6 * {batch_size} * {seq_len} * {hidden_size} * ({input_size} + {hidden_size})",
        "three gates; 6 additions of biases and 10 operations for each element of the state",
        with_arguments("input_size", "hidden_size"),
        tensor("seq_len", "batch_size", "input_size"),
        RECURRENT,
        weights="3 * {hidden_size} * ({input_size} + {hidden_size} + 2) * {w_dtype_bytes}",
        pointwise_ops="16 * {batch_size} * {seq_len} * {hidden_size}",
        judge=UNFUSED,
    ),
    Case(
        "torch.nn.RNN",
        "2 * {batch_size} * {seq_len} * {hidden_size} * ({input_size} + {hidden_size})",
        "one product with the input and one with the state; two biases, their sum and its tangent",
        with_arguments("input_size", "hidden_size"),
        tensor("seq_len", "batch_size", "input_size"),
        RECURRENT,
        weights="{hidden_size} * ({input_size} + {hidden_size} + 2) * {w_dtype_bytes}",
        pointwise_ops="4 * {batch_size} * {seq_len} * {hidden_size}",
        judge=UNFUSED,
    ),
    Case(
        "torch.nn.MultiheadAttention",
        "4 * {batch_size} * {seq_len} * {embed_dim} * (2 * {embed_dim} + {seq_len})",
        "four square projections, 8 embed_dim^2 a row; scores and their sum of values, 4 seq_len embed_dim",
        with_arguments("embed_dim", "num_heads"),
        itself,
        HEADS,
        weights="4 * {embed_dim} * ({embed_dim} + 1) * {w_dtype_bytes}",
        judge=UNFUSED,
    ),
    Case(
        "torch.nn.MultiheadAttention",
        "4 * {batch_size} * {embed_dim} * ({embed_dim} * ({tgt_len} + {src_len}) + {tgt_len} * {src_len})",
        "queries and output are projected at tgt_len positions, keys and values at src_len",
        with_arguments("embed_dim", "num_heads"),
        across,
        HEADS,
        call="cross attention",
        weights="4 * {embed_dim} * ({embed_dim} + 1) * {w_dtype_bytes}",
        judge=UNFUSED,
    ),
    Case(
        "torch.nn.TransformerEncoderLayer",
        "4 * {batch_size} * {seq_len} * {d_model} * (2 * {d_model} + {seq_len} + {dim_feedforward})",
        "attention, then two products with dim_feedforward",
        with_arguments("d_model", "nhead", "dim_feedforward"),
        tensor("seq_len", "batch_size", "d_model"),
        ENCODER,
        weights="(4 * {d_model} * {d_model} + 9 * {d_model} + {dim_feedforward} * (2 * {d_model} + 1)) "
        "* {w_dtype_bytes}",
        judge=UNFUSED,
    ),
)
