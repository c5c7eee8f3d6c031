"""Recurrent layers and cells, attention and transformers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from forwardbook.analyzers.instances.notation import Row

SIZES = "input_size, hidden_size"
HEADS = ("{d_model} % {nhead} == 0",)
ATTENTION = ("{embed_dim} % {num_heads} == 0",)
SOURCE = "floats(src_len, batch_size, d_model)"
TARGET = "floats(tgt_len, batch_size, d_model)"
SEQUENCE = "floats(seq_len, batch_size, d_model)"
LAYER = "TransformerEncoderLayer(d_model, nhead, dim_feedforward)"
DECODER = "TransformerDecoderLayer(d_model, nhead, dim_feedforward)"


def _recurrent(name: str) -> Iterator[Row]:
    """Its usual calls, and each of the three ways of building it otherwise with each other."""
    for first, both, stacked in product((False, True), repeat=3):
        inputs = "batch_size, seq_len" if first else "seq_len, batch_size"
        ways = {"batch first": first, "bidirectional": both, "stacked": stacked}
        built = [SIZES] + ["num_layers"] * stacked
        built += ["batch_first=True"] * first + ["bidirectional=True"] * both
        said = ", ".join(way for way, holds in ways.items() if holds)
        yield Row(f"{name}({', '.join(built)})(floats({inputs}, input_size))", scenario=said or "default")


def _of_heads(text: str, where: tuple[str, ...], even: Mapping[str, int]) -> tuple[Row, ...]:
    """A call with the batch first: torch's fast path takes an even number of heads alone."""
    [heads] = [name for name in even if "head" in name]
    return (
        Row(text, (*where, f"{{{heads}}} % 2 == 0"), hints=even, scenario="batch first, even heads"),
        Row(text, (*where, f"{{{heads}}} % 2 == 1"), scenario="batch first"),
    )


ROWS = (
    *(row for name in ("RNN", "GRU", "LSTM") for row in _recurrent(name)),
    Row(
        f"LSTM({SIZES}, proj_size=proj_size)(floats(seq_len, batch_size, input_size))",
        where=("{proj_size} < {hidden_size}",),
        scenario="projection",
    ),
    *(
        Row(f"{name}({SIZES})(floats(batch_size, input_size), floats(batch_size, hidden_size))")
        for name in ("RNNCell", "GRUCell")
    ),
    Row(
        f"LSTMCell({SIZES})(floats(batch_size, input_size), "
        "(floats(batch_size, hidden_size), floats(batch_size, hidden_size)))"
    ),
    Row(
        "MultiheadAttention(embed_dim, num_heads)(x := floats(seq_len, batch_size, embed_dim), x, x)",
        ATTENTION,
    ),
    Row(
        "MultiheadAttention(embed_dim, num_heads)"
        "(x := floats(seq_len, batch_size, embed_dim), x, x, need_weights=False)",
        ATTENTION,
        scenario="without weights",
    ),
    *_of_heads(
        "MultiheadAttention(embed_dim, num_heads, batch_first=True)"
        "(x := floats(batch_size, seq_len, embed_dim), x, x)",
        ATTENTION,
        {"num_heads": 4, "embed_dim": 24},
    ),
    Row(
        "MultiheadAttention(embed_dim, num_heads)"
        "(floats(tgt_len, batch_size, embed_dim), x := floats(src_len, batch_size, embed_dim), x)",
        ATTENTION,
        scenario="cross attention",
    ),
    Row(
        "MultiheadAttention(embed_dim, num_heads, kdim=kdim, vdim=vdim)"
        "(floats(tgt_len, batch_size, embed_dim), floats(src_len, batch_size, kdim), "
        "floats(src_len, batch_size, vdim))",
        ATTENTION,
        scenario="keys and values of other widths",
    ),
    Row(f"{LAYER}({SEQUENCE})", HEADS),
    *_of_heads(
        "TransformerEncoderLayer(d_model, nhead, dim_feedforward, batch_first=True)"
        "(floats(batch_size, seq_len, d_model))",
        HEADS,
        {"nhead": 4, "d_model": 24},
    ),
    Row(f"{DECODER}({TARGET}, {SOURCE})", HEADS),
    Row(f"TransformerEncoder({LAYER}, num_layers)({SEQUENCE})", HEADS),
    Row(f"TransformerDecoder({DECODER}, num_layers)({TARGET}, {SOURCE})", HEADS),
    Row(
        "Transformer(d_model, nhead, num_encoder_layers, num_decoder_layers, dim_feedforward)"
        f"({SOURCE}, {TARGET})",
        HEADS,
    ),
)
