"""Sizes at which classes of language models are run; how the width of a head is bound to that of a row."""

from __future__ import annotations

from typing import Final

TEXT: Final = (
    {"batch_size": 2, "seq_len": 5, "kv_len": 9, "src_len": 8}
    | {"hidden_size": 24, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 10}
    | {"attention_head_size": 7, "head_size": 4, "rotary_ndims": 5, "intermediate_size": 28}
    | {"ffn_dim": 26, "ffn_hidden_size": 30},
    {"batch_size": 3, "seq_len": 7, "kv_len": 4, "src_len": 6}
    | {"hidden_size": 32, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 6}
    | {"attention_head_size": 5, "head_size": 8, "rotary_ndims": 3, "intermediate_size": 44}
    | {"ffn_dim": 50, "ffn_hidden_size": 42},
)
"""rotary_ndims is half of head_dim."""
STATES: Final = (
    {"batch_size": 2, "seq_len": 5, "kv_len": 9, "num_heads": 6, "head_dim": 4},
    {"batch_size": 3, "seq_len": 7, "kv_len": 4, "num_heads": 4, "head_dim": 5},
)
"""Of attention that is built with a width and a number of heads."""


def heads(
    dim: str = "head_dim", number: str = "num_attention_heads", width: str = "hidden_size"
) -> dict[str, str]:
    """A row is as wide as all heads together: constructors share it out."""
    return {width: f"{{{number}}} * {{{dim}}}"}
