"""What is kept of a tensor that a class was handed: all but the tensor, which must not live longer for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.shadows import shadow

Size = int | torch.SymInt


@dataclass(frozen=True, eq=False)
class TensorLayout:
    """The shape, strides and dtype of a tensor, and its values where these are known."""

    shape: tuple[Size, ...]
    strides: tuple[Size, ...]
    dtype: torch.dtype
    value: Tensor | None
    contiguous: bool

    @staticmethod
    def of(tensor: Tensor) -> TensorLayout:
        """The layout of a tensor as it is now."""
        value = None if tensor.dtype.is_floating_point else shadow(tensor)
        return TensorLayout(tuple(tensor.shape), tensor.stride(), tensor.dtype, value, tensor.is_contiguous())

    @cached_property
    def ones(self) -> bool:
        """Whether all elements are known to be one; looked at after the run, which would count it."""
        return self.value is not None and bool((self.value == 1).all())

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    @property
    def order(self) -> tuple[int, ...]:
        """The dimensions from the outermost in memory to the innermost.

        Where a size is 1 its stride says nothing.
        """
        usual = range(self.rank)
        if self.contiguous and any(number_of(size) == 1 for size in self.shape):
            return tuple(usual)
        strides = [number_of(one) for one in self.strides]
        return tuple(sorted(usual, key=lambda place: (-strides[place], place)))

    @property
    def expanded(self) -> tuple[int, ...]:
        """The dimensions along which it is one element only."""
        pairs = enumerate(zip(self.shape, self.strides, strict=True))
        return tuple(n for n, (size, stride) in pairs if number_of(stride) == 0 and number_of(size) > 1)

    def made(self, shape: list[int], make: object) -> Tensor:
        """A tensor of a shape that lies in memory as this one does; `make` gives one that lies as usual."""
        assert callable(make)
        own = [1 if place in self.expanded else size for place, size in enumerate(shape)]
        order = list(self.order)
        made: Tensor = make([own[place] for place in order])
        back = [order.index(place) for place in range(len(order))]
        made = made.permute(back) if back != sorted(back) else made
        return made.expand(shape) if self.expanded else made
