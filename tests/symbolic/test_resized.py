"""A tensor that is resized has a larger storage from then on: the allocator's peak is ours."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import forwardbook


class Function(nn.Module):
    """Calls a function."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


def resized_as(x: Tensor) -> Tensor:
    return x.new_empty(0).resize_as_(x).copy_(x) + x


def resized(x: Tensor) -> Tensor:
    """Twice as large: old and new are alive while the old one is copied."""
    y = x + 1
    return y.resize_(2 * x.shape[0], *x.shape[1:])


def given_out(x: Tensor) -> Tensor:
    y = x.new_empty(0)
    torch.add(x, 1, out=y)
    return y * x


SIZE = 3 * 5 * 4  # bytes of the input


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(
    ("function", "peak"), [(resized_as, 2 * SIZE), (resized, 3 * SIZE), (given_out, 2 * SIZE)]
)
def test_a_resized_tensor_is_alive_at_its_new_size(
    function: Callable[[Tensor], Tensor], peak: int, device: str
) -> None:
    """By hand: what is resized, and beside it what is made of it or what it was."""
    report = forwardbook.cost(Function(function), torch.ones(3, 5, device=device))
    assert peak == report.peak


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_normalisation_across_maps_holds_its_scales_and_its_result(device: str) -> None:
    """CrossMapLRN2d makes both of nothing and resizes them."""
    x = torch.ones(2, 4, 3, 5, device=device)
    assert 2 * x.nbytes == forwardbook.cost(nn.CrossMapLRN2d(3), x).peak
