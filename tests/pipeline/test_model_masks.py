"""`executed` counts the pairs that masks leave in whole models, by a count of the pairs themselves."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
import transformers

from forwardbook.analyzers.instances.pretrained.whole import narrowed, phases_of
from forwardbook.models.record import PhaseCosts
from forwardbook.models.totals import Widths, evaluate
from forwardbook.pipeline.model.costs import phase_costs

HEADS, HEAD, WINDOW = 4, 8, 20
SMALL: Mapping[str, object] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "vocab_size": 50,
}
KINDS = ["sliding_attention", "full_attention"]
CAUSAL = {**SMALL, "num_key_value_heads": 2, "head_dim": HEAD, "sliding_window": WINDOW, "layer_types": KINDS}


def prefill(model: str, config: transformers.PreTrainedConfig, hints: Mapping[str, int] | None) -> PhaseCosts:
    """Its formulas."""
    return phase_costs(phases_of(getattr(transformers, model), config)[0], torch.bfloat16, 5, hints)


def spared(phase: PhaseCosts, batch: int, length: int) -> int:
    """The flops that masks spare at these sizes."""
    sizes = {"batch_size": batch, "seq_len": length}
    dense, executed = (evaluate(phase, sizes, Widths(), kind) for kind in ("dense", "executed"))
    assert executed.unknown_masks == ()
    return int(dense.total.flops - executed.total.flops)


def masked(length: int, window: int | None) -> int:
    """The pairs that a causal mask, and a window of the last positions, forbid."""
    places = [(row, column) for row in range(length) for column in range(length)]
    return sum(column > row or (window is not None and column <= row - window) for row, column in places)


@pytest.mark.parametrize(
    ("model", "config"),
    [
        ("GptOssForCausalLM", transformers.GptOssConfig(**CAUSAL, num_local_experts=4)),
        ("Gemma2ForCausalLM", transformers.Gemma2Config(**CAUSAL)),
        ("Gemma3ForCausalLM", transformers.Gemma3TextConfig(**CAUSAL)),
    ],
)
@pytest.mark.parametrize("length", [11, 61])
def test_windows_and_triangles_are_counted(
    model: str, config: transformers.PreTrainedConfig, length: int
) -> None:
    phase = prefill(model, config, {"batch_size": 3, "seq_len": length})
    pairs = masked(length, WINDOW) + masked(length, None)
    assert spared(phase, 2, length) == 4 * 2 * HEADS * HEAD * pairs


@pytest.mark.parametrize("length", [11, 61])
def test_chunks_of_a_causal_mask_are_counted(length: int) -> None:
    """Of two layers one sees its chunk of 20 positions up to itself, the other all before it."""
    sizes = {**SMALL, "num_key_value_heads": 2, "head_dim": HEAD, "intermediate_size_mlp": 48}
    kinds = {"attention_chunk_size": 20, "no_rope_layers": [1, 0], "moe_layers": []}
    phase = prefill("Llama4ForCausalLM", transformers.Llama4TextConfig(**sizes, **kinds), None)
    places = [(row, column) for row in range(length) for column in range(length)]
    pairs = masked(length, None) + sum(col > row or col // 20 != row // 20 for row, col in places)
    assert spared(phase, 2, length) == 4 * 2 * HEADS * HEAD * pairs


def test_a_window_on_both_sides_is_counted() -> None:
    kinds = {"layer_types": ["full_attention", "sliding_attention"]}
    config = transformers.ModernBertConfig(**SMALL, **kinds, local_attention=16, pad_token_id=0)
    length, half = 41, 8
    phase = prefill("ModernBertForMaskedLM", config, {"batch_size": 3, "seq_len": length})
    far = sum(abs(row - column) > half for row in range(length) for column in range(length))
    assert spared(phase, 2, length) == 4 * 2 * 32 * far


def test_a_layer_whose_mask_nobody_can_tell_is_named() -> None:
    config = transformers.SwinConfig(
        image_size=32, patch_size=2, embed_dim=16, depths=[2], num_heads=[2], window_size=4
    )
    [phase] = phases_of(transformers.SwinModel, config)
    found = evaluate(phase_costs(phase, torch.bfloat16, 5), {"batch_size": 2}, Widths(), "executed")
    assert any("blocks.1" in name for name in found.unknown_masks)


def test_only_windows_of_a_config_are_made_narrow() -> None:
    config = transformers.Gemma2Config(**CAUSAL)
    other = narrowed(config)
    assert other is not None
    assert (other.sliding_window, config.sliding_window) == (5, WINDOW)
    assert narrowed(transformers.LlamaConfig()) is None
