"""Whose a file is follows from where torch and the engine are, not from names of folders."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic import places
from forwardbook.analyzers.symbolic.trace import Trace

TORCH = Path(torch.__file__).parent
SOURCE = """
from torch import nn

class Squared(nn.Module):
    def forward(self, x):
        return x * x
"""


@pytest.mark.parametrize(
    "name", ["torch/mine.py", "torch/nn/modules/module.py", "contextlib.py", "functools.py"]
)
def test_a_file_that_is_called_like_torchs_is_its_authors(
    name: str, tmp_path: Path, recipe_from: Callable[..., Recipe], trace_of: Callable[..., Trace]
) -> None:
    """The place of an operation is the line of the class, in a folder named torch as anywhere."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("mine", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    recipe = recipe_from(
        module.Squared, lambda _: module.Squared(), lambda n, maker: (maker.floats((n.rows,)),), rows=2
    )
    (operation,) = trace_of(recipe).operations
    assert [(str(path), 6)] == [(one.file, one.line) for one in operation.frames]


@pytest.mark.parametrize(
    ("path", "is_plumbing"),
    [
        (TORCH / "nn" / "functional.py", False),
        (TORCH / "nn" / "modules" / "linear.py", False),
        (TORCH / "nn" / "modules" / "module.py", True),
        (TORCH / "_ops.py", True),
        (Path(contextlib.__file__), True),
        (Path(places.__file__).with_name("recorder.py"), True),
    ],
)
def test_torchs_own_layers_are_seen_and_what_carries_a_call_to_them_is_not(
    path: Path, is_plumbing: bool
) -> None:
    """An operation within `F.cross_entropy` is at its line; dispatch and the recorder have no line."""
    assert is_plumbing == places.is_plumbing(str(path))
