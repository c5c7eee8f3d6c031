"""A loop over chunks of a sequence: its rounds are an expression of the length, which stays a size."""

from __future__ import annotations

from functools import cache

import pytest
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

from forwardbook.analyzers.instances.pretrained.whole import phases_of
from forwardbook.formula import parse
from forwardbook.models.record import PhaseCosts
from forwardbook.models.totals import Widths, holding, whole
from forwardbook.pipeline.model.costs import phase_costs
from forwardbook.pipeline.model.rounds import sizes_by_rounds

CONFIG = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "vocab_size": 30,
    "linear_num_value_heads": 2,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 4,
    "linear_value_head_dim": 4,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 8,
    "shared_expert_intermediate_size": 8,
    "layer_types": ["linear_attention", "full_attention"],
    "mlp_only_layers": [0, 1],  # torch's counter counts no products of experts in groups
}


@cache
def prefill(seq_len: int) -> PhaseCosts:
    """The formulas as they are read around a length."""
    phase = phases_of(transformers.Qwen3NextForCausalLM, transformers.Qwen3NextConfig(**CONFIG))[0]
    return phase_costs(phase, torch.bfloat16, 3, {"batch_size": 2, "seq_len": seq_len})


def counted(batch_size: int, seq_len: int) -> int:
    """What torch's counter says of the plain model, and the triangular systems that it does not count."""
    with torch.device("meta"), torch.no_grad(), FlopCounterMode(display=False) as counter:
        model = transformers.Qwen3NextForCausalLM(transformers.Qwen3NextConfig(**CONFIG)).eval()
        model(torch.ones(batch_size, seq_len, dtype=torch.int64), use_cache=True)
    chunks = -(-seq_len // 64)
    # two systems of 64 unknowns and four columns for each head; the diagonal is one, and not divided by
    solved = 2 * batch_size * 2 * chunks * 64 * 63 * 4
    return int(counter.get_total_flops()) + solved


CASES = [(17, (5, 63)), (128, (128, 320, 2048)), (100, (67, 321, 1999))]


@pytest.mark.parametrize(("near", "lengths"), CASES)
def test_a_gated_delta_rule_costs_what_torch_counts(near: int, lengths: tuple[int, ...]) -> None:
    """Within one chunk, in whole chunks, and with a last one that is not full."""
    for seq_len in lengths:
        sizes = {"batch_size": 3, "seq_len": seq_len}
        found = holding([prefill(near)], "prefill", sizes, Widths())
        assert counted(3, seq_len) == whole(found, sizes, Widths()).flops


def test_sizes_for_rounds_are_whole_chunks_apart() -> None:
    """So that what is left over in the last chunk is the same in all."""
    rounds = parse("ceil({n} / 64)")
    assert {2: 128, 3: 192, 4: 256, 5: 320} == sizes_by_rounds(rounds, "n", 128)
    assert {2: 81, 3: 145, 4: 209, 5: 273} == sizes_by_rounds(rounds, "n", 81)
    assert sizes_by_rounds(parse("{n} * {n}"), "n", 3) is None
