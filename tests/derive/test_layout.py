"""Tensors that lie in memory as others do."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from forwardbook.analyzers.derive.layout import TensorLayout

PLAIN = torch.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "tensor",
    [PLAIN, PLAIN.transpose(0, 2), PLAIN.permute(1, 2, 0), PLAIN[:, :1].expand(2, 5, 4), torch.ones(3)],
)
def test_strides_are_ordered_as_they_were(tensor: Tensor) -> None:
    """At the same shape the strides themselves are the same."""
    made = TensorLayout.of(tensor).made(list(tensor.shape), torch.empty)

    assert tensor.shape == made.shape
    assert [stride == 0 for stride in tensor.stride()] == [stride == 0 for stride in made.stride()]
    assert tensor.is_contiguous() == made.is_contiguous()


def test_a_tensor_does_not_live_longer_for_its_layout() -> None:
    """Peaks would be those of a run that keeps everything."""
    gone: list[bool] = []
    tensor = torch.ones(2)
    torch.utils.weak.weakref.finalize(tensor, gone.append, True)
    layout = TensorLayout.of(tensor)
    del tensor

    assert [True] == gone
    assert (2,) == layout.shape
