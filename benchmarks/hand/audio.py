"""Layers of models of speech and sound."""

from __future__ import annotations

from typing import Final

from benchmarks.hand.build import decode, rotary_rows, rows, rows_without_mask, with_config
from benchmarks.hand.case import Case
from benchmarks.hand.points import STATES, TEXT, heads

MODELS: Final = "transformers.models"
SPEECH: Final = f"{MODELS}.speech_to_text.modeling_speech_to_text"
WHISPER: Final = (
    {"batch_size": 2, "seq_len": 5, "encoder_attention_heads": 6, "head_dim": 4, "encoder_ffn_dim": 28},
    {"batch_size": 3, "seq_len": 7, "encoder_attention_heads": 4, "head_dim": 5, "encoder_ffn_dim": 33},
)
WIDE: Final = heads(number="num_heads", width="embed_dim")
SQUARES: Final = "4 * {batch_size} * {seq_len} * {embed_dim} * (2 * {embed_dim} + {seq_len})"
SQUARES_WEIGHTS: Final = "4 * {embed_dim} * ({embed_dim} + 1) * {w_dtype_bytes}"
FORWARD: Final = "4 * {batch_size} * {seq_len} * {hidden_size} * {intermediate_size}"
FORWARD_WEIGHTS: Final = (
    "(2 * {hidden_size} * {intermediate_size} + {intermediate_size} + {hidden_size}) * {w_dtype_bytes}"
)
FORWARD_POINTWISE: Final = "{batch_size} * {seq_len} * (2 * {intermediate_size} + {hidden_size})"

CASES: Final = (
    Case(
        f"{MODELS}.wav2vec2.modeling_wav2vec2.Wav2Vec2Attention",
        SQUARES,
        "four square projections and dense attention",
        with_config("Wav2Vec2Config", "embed_dim", "num_heads"),
        rows("embed_dim"),
        STATES,
        relations=WIDE,
        weights=SQUARES_WEIGHTS,
    ),
    Case(
        f"{MODELS}.wav2vec2.modeling_wav2vec2.Wav2Vec2FeedForward",
        FORWARD,
        "there and back; two biases and GELU",
        with_config("Wav2Vec2Config"),
        rows("hidden_size"),
        TEXT,
        weights=FORWARD_WEIGHTS,
        pointwise_ops=FORWARD_POINTWISE,
    ),
    Case(
        f"{MODELS}.hubert.modeling_hubert.HubertFeedForward",
        FORWARD,
        "there and back; two biases and GELU",
        with_config("HubertConfig"),
        rows("hidden_size"),
        TEXT,
        weights=FORWARD_WEIGHTS,
        pointwise_ops=FORWARD_POINTWISE,
    ),
    Case(
        f"{SPEECH}.Speech2TextAttention",
        SQUARES,
        "four square projections and dense attention",
        with_config("Speech2TextConfig", "embed_dim", "num_heads"),
        rows("embed_dim"),
        STATES,
        relations=WIDE,
        weights=SQUARES_WEIGHTS,
    ),
    Case(
        f"{SPEECH}.Speech2TextAttention",
        "4 * {batch_size} * {embed_dim} * (2 * {embed_dim} + {kv_len} + 1)",
        "one position is projected; it meets those in the cache and itself",
        with_config("Speech2TextConfig", "embed_dim", "num_heads", is_decoder=True, layer_idx=0),
        decode(("num_heads", "head_dim"), ("num_heads", "head_dim"), width="embed_dim"),
        STATES,
        call="decode",
        relations=WIDE,
        weights=SQUARES_WEIGHTS,
    ),
    Case(
        f"{MODELS}.whisper.modeling_whisper.WhisperEncoderLayer",
        "4 * {batch_size} * {seq_len} * {d_model} * (2 * {d_model} + {seq_len} + {encoder_ffn_dim})",
        "attention, whose keys have no bias, and two products with encoder_ffn_dim; two norms",
        with_config("WhisperConfig"),
        rows_without_mask("d_model"),
        WHISPER,
        relations=heads(number="encoder_attention_heads", width="d_model"),
        weights="({d_model} * (4 * {d_model} + 2 * {encoder_ffn_dim} + 8) + {encoder_ffn_dim}) * "
        "{w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.mimi.modeling_mimi.MimiAttention",
        "4 * {batch_size} * {seq_len} * {head_dim} * "
        "({num_attention_heads} * ({seq_len} + {hidden_size}) + {num_key_value_heads} * {hidden_size})",
        "queries and output are projected for all heads, keys and values for the shared ones; every head "
        "of the "
        "queries meets every position",
        with_config("MimiConfig", layer_idx=0),
        rotary_rows(),
        TEXT,
        weights="2 * {hidden_size} * {head_dim} * ({num_attention_heads} + {num_key_value_heads}) "
        "* {w_dtype_bytes}",
    ),
)
