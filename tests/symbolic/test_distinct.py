"""Reads are of distinct elements, however a view steps over its tensor."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import forwardbook

VIEWS: dict[str, Callable[[Tensor], Tensor]] = {
    "windows that overlap and leave a rest": lambda x: x.unfold(1, 4, 3),
    "windows that leave gaps": lambda x: x.unfold(1, 2, 3),
    "windows of a slice": lambda x: x[:, 2:].unfold(1, 3, 2),
    "windows of columns in part": lambda x: x[..., :4].unfold(1, 3, 1),
    "windows of a transposed tensor": lambda x: x.mT.unfold(2, 5, 2),
    "windows in two dimensions": lambda x: x.unfold(1, 4, 3).unfold(2, 3, 2),
    "an expanded dimension": lambda x: x[:, None].expand(-1, 3, -1, -1),
    "a single row": lambda x: x[:, 3:4],
}


class Copied(nn.Module):
    """Reads a view of its input and writes it anew."""

    def __init__(self, view: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.view = view

    def forward(self, x: Tensor) -> Tensor:
        return self.view(x).clone()


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_reads_each_element_of_its_tensor_once(name: str) -> None:
    """As many as there are different numbers in the view of a tensor that has no number twice."""
    x = torch.arange(2.0 * 12 * 7).reshape(2, 12, 7)

    assert forwardbook.cost(Copied(VIEWS[name]), x).reads == 4 * VIEWS[name](x).unique().numel()
