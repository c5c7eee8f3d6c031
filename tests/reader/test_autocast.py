"""The reader finds where automatic casting is switched on in what a forward() runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from forwardbook.analyzers.reader import autocasts

CODE = """
import torch
from torch import nn, autocast


def maybe_autocast(device_type, enabled=True):
    return torch.autocast(device_type, enabled=enabled)


def helper(x):
    with {helper}:
        return x


class Net(nn.Module):
    def forward(self, x):
        with {own}:
            return helper(x)


class Unused(nn.Module):
    def forward(self, x):
        with torch.autocast("cpu"):
            return x
"""
OFF = 'torch.autocast("cpu", enabled=False)'


@pytest.mark.parametrize(
    ("own", "helper", "lines"),
    [
        (OFF, OFF, []),
        ('maybe_autocast("cpu", enabled=False)', OFF, []),
        ("torch.cuda.amp.autocast(False)", OFF, []),
        ('maybe_autocast("cpu")', OFF, [17]),
        ('torch.amp.autocast("cpu", dtype=torch.bfloat16)', OFF, [17]),
        ('autocast("cpu", enabled=x.is_floating_point())', 'torch.autocast("cuda")', [17, 11]),
    ],
)
def test_what_is_switched_on_is_found(tmp_path: Path, own: str, helper: str, lines: list[int]) -> None:
    """Calls in forward() and in its helpers, with their lines; what is off, or handed on, is none."""
    file = tmp_path / "casting.py"
    file.write_text(CODE.format(own=own, helper=helper))
    found = autocasts("Net", file)

    assert [("casting.py", line) for line in lines] == [(one.file, one.line) for one in found]
    assert not found or own == found[0].code


def test_rotary_embeddings_cast_nothing() -> None:
    """Transformers switches casting off around its angles; a name without source has nothing to find."""
    assert () == autocasts("transformers.models.llama.modeling_llama.LlamaRotaryEmbedding")
    assert () == autocasts("nowhere.Net")
