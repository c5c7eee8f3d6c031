"""Strides of views that have a side of 1: as torch's own kernel gives them, which its shape functions do not.

The stride of such a side is never used to find an element, but a convolution asks all strides where channels
lie, and lays out its result by that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.ledger import number_of

VIEWS: Final = (
    torch.ops.aten.view.default,
    torch.ops.aten._unsafe_view.default,
    torch.ops.aten.reshape.default,
)


def strided(self: Tensor, made: Tensor) -> Tensor:
    """The view `made` of a tensor with the strides that torch's `computeStride` gives it."""
    if made.dim() == 0 or all(number_of(size) != 1 for size in made.shape):
        return made
    strides = _strides(self.shape, self.stride(), made.shape)
    if strides is None or list(map(number_of, strides)) == list(map(number_of, made.stride())):
        return made
    return made.as_strided(made.shape, strides)


def _strides(old: Sequence[int], old_strides: Sequence[int], new: Sequence[int]) -> list[int] | None:
    """The strides of a view (aten/src/ATen/TensorUtils.cpp, computeStride_impl); None where it is a copy.

    Where a side is at this run's numbers what the question asks for, nothing is asked of its symbol: the view
    itself has asked already.
    """
    strides: list[int] = [0] * len(new)
    place = len(new) - 1
    base, elements, seen = (old_strides[-1] if old else 1), 1, 1
    for side in range(len(old) - 1, -1, -1):
        elements = elements * old[side]
        if side and (
            number_of(old[side - 1]) == 1
            or number_of(old_strides[side - 1]) == number_of(elements) * number_of(base)
        ):
            continue
        while place >= 0 and (number_of(seen) < number_of(elements) or number_of(new[place]) == 1):
            strides[place] = seen * base
            seen = seen * new[place]
            place -= 1
        if number_of(seen) != number_of(elements):
            return None
        if side:
            base, elements, seen = old_strides[side - 1], 1, 1
    return strides if place == -1 else None
