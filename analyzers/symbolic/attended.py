"""How the result of attention lies in memory."""

from __future__ import annotations

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.shadows import numbers


def attended(query: Tensor, value: Tensor) -> Tensor:
    """A new tensor of the query's shape, as wide as the value, that lies as kernels write it.

    Its dimensions have the order of the query's, gaps closed, where the elements of the last are together,
    else they are in order; where values are of another width, the heads of a position are together.
    """
    shape = [*query.shape[:-1], value.shape[-1]]
    if query.dim() != 4:
        return query.new_empty(shape)
    if number_of(query.shape[-1]) != number_of(value.shape[-1]):
        order = [0, 2, 1, 3]
    elif number_of(query.stride(-1)) == 1:
        order = _order_of(query)
    else:
        order = [0, 1, 2, 3]
    places = [order.index(place) for place in range(4)]
    return query.new_empty([shape[place] for place in order]).permute(places)


def _order_of(tensor: Tensor) -> list[int]:
    """The dimensions of a tensor of the same layout without gaps, outermost first."""
    sizes = numbers(tensor.shape)
    strides = torch.empty_like(
        torch.empty_strided(sizes, numbers(tensor.stride()), dtype=tensor.dtype, device="meta")
    ).stride()
    return sorted(range(len(sizes)), key=lambda place: (-strides[place], sizes[place] == 1, place))
