"""Published sizes of large models, multiplied out by hand, against the shipped formulas; no run, no torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from forwardbook.models.record import ModelCosts
from forwardbook.models.totals import Widths, evaluate, holding, whole
from forwardbook.workspace.model_files import ModelFiles

B, S = 1, 2048
SIZES = {"batch_size": B, "seq_len": S}
MAC = 2  # a multiply and an add


def shipped(model_id: str) -> ModelCosts:
    """The formulas of a shipped model as the file has them."""
    return next(ModelFiles(Path("nowhere")).costs(model_id))


def grouped(hidden: int, heads: int, kv_heads: int, head_dim: int) -> int:
    """Multiply-accumulates of a token in attention: four projections, and every pair twice."""
    return hidden * head_dim * (2 * heads + 2 * kv_heads) + 2 * S * heads * head_dim


def gated(hidden: int, width: int) -> int:
    """Of three products: gate, up, down."""
    return 3 * hidden * width


def latent() -> int:
    """Of DeepSeek-V3: queries through 1536, keys and values through 512, 64 rotated features a head."""
    hidden, heads, plain, rotated, values = 7168, 128, 128, 64, 128
    queries = hidden * 1536 + 1536 * heads * (plain + rotated)
    keys = hidden * (512 + rotated) + 512 * heads * (plain + values)
    return queries + keys + heads * values * hidden + S * heads * (plain + rotated + values)


HAND = {  # layers * (attention + feed forward) + logits, for each token
    "llama-2-7b": 32 * (grouped(4096, 32, 32, 128) + gated(4096, 11008)) + 4096 * 32000,
    "llama-3.1-8b": 32 * (grouped(4096, 32, 8, 128) + gated(4096, 14336)) + 4096 * 128256,
    "llama-3-70b": 80 * (grouped(8192, 64, 8, 128) + gated(8192, 28672)) + 8192 * 128256,
    "qwen3-4b": 36 * (grouped(2560, 32, 8, 128) + gated(2560, 9728)) + 2560 * 151936,
    "mixtral-8x7b": 32 * (grouped(4096, 32, 8, 128) + 4096 * 8 + 2 * gated(4096, 14336)) + 4096 * 32000,
    "qwen3-30b-a3b": 48 * (grouped(2048, 32, 4, 128) + 2048 * 128 + 8 * gated(2048, 768)) + 2048 * 151936,
    "deepseek-v3": 61 * latent()
    + 3 * gated(7168, 18432)
    + 58 * (7168 * 256 + (8 + 1) * gated(7168, 2048))
    + 7168 * 129280,
}
PUBLISHED = {  # the same from measured runs and other counters
    "llama-2-7b": 29_261_612_187_648,
    "llama-3.1-8b": 32_938_104_193_024,
    "qwen3-4b": 18_949_127_274_496,
    "mixtral-8x7b": 54_417_235_640_320,
    "qwen3-30b-a3b": 15_757_161_267_200,
}


@pytest.mark.parametrize("model_id", HAND)
def test_shipped_formulas_are_the_hand_count(model_id: str) -> None:
    """One sequence of 2048 tokens, every pair of attention counted."""
    phase = holding(shipped(model_id).phases, "prefill", SIZES, Widths())

    assert MAC * B * S * HAND[model_id] == evaluate(phase, SIZES, Widths()).total.flops
    assert MAC * B * S * HAND[model_id] == whole(phase, SIZES, Widths()).flops


@pytest.mark.parametrize("model_id", PUBLISHED)
def test_hand_counts_are_what_others_measured(model_id: str) -> None:
    """The count by hand is the number that was published."""
    assert PUBLISHED[model_id] == MAC * B * S * HAND[model_id]


@pytest.mark.parametrize(("model_id", "elements"), [("llama-2-7b", 262144), ("deepseek-v3", 61 * (512 + 64))])
def test_cache_of_a_token(model_id: str, elements: int) -> None:
    """Keys and values of 32 layers and 32 heads; one latent and one rotated key of 61 layers."""
    sizes = {"batch_size": 3, "kv_len": 1000}
    phase = holding(shipped(model_id).phases, "decode", sizes, Widths())

    assert 3 * 1000 * elements == evaluate(phase, sizes, Widths(kv_bit=8)).cache
