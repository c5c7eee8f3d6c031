"""A decode whose window ends among the sizes that are tried first has formulas at those asked for."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

from forwardbook.models.totals import Widths, whole
from forwardbook.pipeline.model.find import described
from forwardbook.pipeline.model.pipeline import Model
from forwardbook.pipeline.model.source import from_values
from forwardbook.workspace.model_files import ModelFiles

VALUES: dict[str, object] = {
    "model_type": "starcoder2",
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 50,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "sliding_window": 25,
}


def counted(batch_size: int, kv_len: int) -> int:
    """What torch's counter says of one token of the plain model over a cache that it filled."""
    config = transformers.Starcoder2Config(**VALUES, attn_implementation="eager")
    model = transformers.Starcoder2ForCausalLM(config).eval()
    with torch.no_grad():
        filled = model(torch.ones(batch_size, kv_len, dtype=torch.int64), use_cache=True)
        with FlopCounterMode(display=False) as counter:
            model(torch.ones(batch_size, 1, dtype=torch.int64), past_key_values=filled.past_key_values)
    return int(counter.get_total_flops())


def test_a_decode_beyond_its_window_costs_what_torch_counts(tmp_path: Path) -> None:
    model = Model(described(from_values("narrow", VALUES, "test")), ModelFiles(tmp_path))
    sizes = {"batch_size": 2, "kv_len": 41}
    assert counted(2, 41) == whole(model.phase("decode", sizes, Widths()), sizes, Widths()).flops
