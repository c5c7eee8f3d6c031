"""What the tests of commands share: a folder with a class to analyse, and the program to run in it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Program = Callable[..., "subprocess.CompletedProcess[str]"]

LAYERS = """\
import torch
from torch import nn

print("the module of the layers is imported")


class Gated(nn.Module):
    def __init__(self, width: int, hidden: int = 32):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        print("forward() runs")
        return self.down(torch.relu(self.gate(x)))
"""
GATED = ("layers.py:Gated", "--init", "width=16", "--input", "x=batch_size,seq_len,width")

TINY = {  # the config of a model of two layers
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 50,
}

COMMAND = (sys.executable, "-P", "-m", "forwardbook")


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The environment of the real program."""
    return os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with `layers.py`, which defines the class Gated, and no database."""
    (tmp_path / "layers.py").write_text(LAYERS)
    return tmp_path


@pytest.fixture
def program(folder: Path, environment: dict[str, str]) -> Program:
    """Runs the real program in the folder."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=folder,
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
