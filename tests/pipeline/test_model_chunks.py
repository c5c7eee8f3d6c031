"""A model that cuts positions into chunks: one chunk, several and whole ones have formulas of their own."""

from __future__ import annotations

from functools import cache

import pytest
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

from forwardbook.analyzers.instances.pretrained.whole import phases_of
from forwardbook.models.record import PhaseCosts
from forwardbook.models.totals import NoFormulas, Widths, holding, whole
from forwardbook.pipeline.model.costs import phase_costs
from forwardbook.pipeline.model.source import NoPolynomial

CHUNK = 32
CONFIG = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "state_size": 16,
    "expand": 2,
    "num_heads": 8,
    "head_dim": 8,
    "n_groups": 1,
    "chunk_size": CHUNK,
    "vocab_size": 60,
}


@cache
def prefill(seq_len: int) -> PhaseCosts:
    """The formulas as they are read around a length."""
    phase = phases_of(transformers.Mamba2ForCausalLM, transformers.Mamba2Config(**CONFIG))[0]
    return phase_costs(phase, torch.bfloat16, 3, {"batch_size": 2, "seq_len": seq_len})


def counted(batch_size: int, seq_len: int) -> int:
    """What torch's counter says of the plain model."""
    with torch.device("meta"), torch.no_grad(), FlopCounterMode(display=False) as counter:
        model = transformers.Mamba2ForCausalLM(transformers.Mamba2Config(**CONFIG)).eval()
        model(torch.ones(batch_size, seq_len, dtype=torch.int64), use_cache=True)
    return int(counter.get_total_flops())


CASES = [(20, (7, 31), (32, 33, 64)), (70, (33, 95), (31, 64))]


@pytest.mark.parametrize(("near", "inside", "outside"), CASES)
def test_formulas_end_where_the_chunks_do(
    near: int, inside: tuple[int, ...], outside: tuple[int, ...]
) -> None:
    """Within their conditions they are the count; beyond, where they would be wrong, they do not hold."""
    for seq_len in inside:
        sizes = {"batch_size": 3, "seq_len": seq_len}
        phase = holding([prefill(near)], "prefill", sizes, Widths())
        assert counted(3, seq_len) == whole(phase, sizes, Widths()).flops
    for seq_len in outside:
        with pytest.raises(NoFormulas, match="ceil"):
            holding([prefill(near)], "prefill", {"batch_size": 3, "seq_len": seq_len}, Widths())


def test_a_size_without_a_polynomial_is_named() -> None:
    """At exactly one chunk the length is a number, and none of the longer ones costs alike."""
    with pytest.raises(NoPolynomial) as refused:
        prefill(CHUNK)

    assert "seq_len" == refused.value.name
