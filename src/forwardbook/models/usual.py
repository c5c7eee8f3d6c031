"""Sizes of a call that are taken where nobody gave any: one sequence of 2048 positions."""

from __future__ import annotations

from typing import Final

LENGTHS: Final = (2048, 512, 64)
"""Positions of a sequence: the first that a model takes."""
USUAL: Final = {
    "batch_size": 1,
    "seq_len": LENGTHS[0],
    "kv_len": 2048,
    "decoder_seq_len": 64,
    "num_samples": 16000,
    "num_frames": 1500,
}
