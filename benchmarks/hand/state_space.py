"""Mixers of state space models, as transformers writes them out in torch."""

from __future__ import annotations

from typing import Final

from benchmarks.hand.build import make_config, random_tensor, rows, with_arguments, with_config
from benchmarks.hand.case import Case, Inputs, Sizes

MODELS: Final = "transformers.models"
SELECTIVE: Final = (
    {"batch_size": 4, "seq_len": 5, "hidden_size": 10, "expand": 2, "state_size": 7, "time_step_rank": 3}
    | {"conv_kernel": 4},
    {"batch_size": 2, "seq_len": 8, "hidden_size": 6, "expand": 3, "state_size": 4, "time_step_rank": 5}
    | {"conv_kernel": 3},
)
CHUNKS: Final = (
    {"batch_size": 3, "seq_len": 13, "num_heads": 6, "head_dim": 4, "expand": 2, "state_size": 7}
    | {"n_groups": 2, "conv_kernel": 4, "chunk_size": 5},
    {"batch_size": 2, "seq_len": 9, "num_heads": 4, "head_dim": 9, "expand": 3, "state_size": 5}
    | {"n_groups": 4, "conv_kernel": 3, "chunk_size": 3},
)
NORM: Final = (
    {"batch_size": 2, "seq_len": 5, "hidden_size": 12, "group_size": 4},
    {"batch_size": 3, "seq_len": 7, "hidden_size": 30, "group_size": 6},
)
INNER: Final = {"intermediate_size": "{expand} * {hidden_size}"}


def step(sizes: Sizes) -> Inputs:
    """One new position, and the states of convolution and recurrence that it meets."""
    from transformers import DynamicCache, MambaConfig

    cache = DynamicCache(config=make_config(MambaConfig, sizes, {}))
    window = random_tensor(sizes, "batch_size", "intermediate_size", "conv_kernel")
    cache.update_conv_state(window, 0, conv_kernel_size=sizes.conv_kernel)
    cache.update_recurrent_state(random_tensor(sizes, "batch_size", "intermediate_size", "state_size"), 0)
    return (random_tensor(sizes, "batch_size", 1, "hidden_size"),), {"cache_params": cache}


def rows_with_gate(sizes: Sizes) -> Inputs:
    """Hidden states and their gate."""
    states = [random_tensor(sizes, "batch_size", "seq_len", "hidden_size") for _ in range(2)]
    return (*states,), {}


CASES: Final = (
    Case(
        f"{MODELS}.mamba.modeling_mamba.MambaMixer",
        "2 * {batch_size} * {intermediate_size} * ({seq_len} * (3 * {hidden_size} + 2 * {time_step_rank} "
        "+ 3 * {state_size}) + {conv_kernel} * ({seq_len} + {conv_kernel} - 1))",
        "in for states and gate, and out; steps, B and C of the states, steps again; C reads the state "
        "out; the "
        "depthwise window is padded at both ends, and what the end adds is computed and dropped",
        with_config("MambaConfig", layer_idx=0),
        rows("hidden_size"),
        SELECTIVE,
        relations=INNER,
    ),
    Case(
        f"{MODELS}.mamba.modeling_mamba.MambaMixer",
        "2 * {batch_size} * {intermediate_size} * (3 * {hidden_size} + 2 * {time_step_rank} "
        "+ 3 * {state_size} + 2 * {conv_kernel})",
        "as before at one position; the window moves over conv_kernel positions kept and the new one, "
        "and of its "
        "two results one is dropped",
        with_config("MambaConfig", layer_idx=0),
        step,
        SELECTIVE,
        call="decode",
        relations=INNER,
    ),
    Case(
        f"{MODELS}.mamba2.modeling_mamba2.Mamba2Mixer",
        "2 * {batch_size} * ({seq_len} * {hidden_size} * (2 * {intermediate_size} + {conv_dim} + "
        "{num_heads}) "
        "+ {conv_dim} * {conv_kernel} * ({seq_len} + {conv_kernel} - 1) + {num_heads} * ({chunks} * "
        "{chunk_size} "
        "* ({chunk_size} * ({state_size} + {head_dim}) + 2 * {state_size} * {head_dim}) "
        "+ ({chunks} + 1) * ({chunks} + 1) * {state_size} * {head_dim}))",
        "in and out; the padded window; in each whole chunk scores and their sums as in attention, its "
        "state and "
        "what the state adds; and every chunk's state from all before it",
        with_config("Mamba2Config", layer_idx=0),
        rows("hidden_size"),
        CHUNKS,
        relations={"hidden_size": "{num_heads} * {head_dim} // {expand}"},
        where={
            "intermediate_size": "{expand} * {hidden_size}",
            "conv_dim": "{intermediate_size} + 2 * {n_groups} * {state_size}",
            "chunks": "ceil({seq_len} / {chunk_size})",
        },
    ),
    Case(
        f"{MODELS}.mamba2.modeling_mamba2.MambaRMSNormGated",
        "0",
        "no contraction; gate 2, square, mean, scale and weight an element, 2 for each group of a row",
        with_arguments("hidden_size", "group_size"),
        rows_with_gate,
        NORM,
        weights="{hidden_size} * {w_dtype_bytes}",
        pointwise_ops="2 * {batch_size} * {seq_len} * (3 * {hidden_size} + {hidden_size} // {group_size})",
    ),
)
