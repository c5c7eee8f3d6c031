"""Tensors of one value everywhere, too large to carry it: it is kept once, and sums follow from it.

Whether images are only padding (`(pixel_values == 0.0).sum(dim=(-1, -2, -3))`) is asked of all their pixels.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Final

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.of_weights import unmark
from forwardbook.analyzers.symbolic.shadows import LIMIT, carry, elements, numbers, shadow

Number = float | bool
_SAME: Final = ("view", "_unsafe_view", "reshape", "clone", "contiguous", "expand", "alias", "slice")
_COMPARED: Final[dict[str, Callable[[Number, Number], bool]]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def full_of(tensor: Tensor, value: Number) -> Tensor:
    """The tensor, marked as holding the value everywhere."""
    tensor._forwardbook_uniform = value  # type: ignore[attr-defined]
    return tensor


def value_of(tensor: Tensor) -> Number | None:
    """The value that a tensor is marked to hold everywhere."""
    value: Number | None = getattr(tensor, "_forwardbook_uniform", None)
    return value


def follow_uniform(name: str, args: Sequence[object], outputs: Sequence[Tensor]) -> None:
    """Marks what an operation makes of a tensor of one value; a sum of few elements carries its values."""
    given = args[0] if args else None
    value = value_of(given) if isinstance(given, Tensor) else None
    if value is None or len(outputs) != 1:
        return
    assert isinstance(given, Tensor)
    (out,) = outputs
    if name in _SAME:
        full_of(out, value)
    elif name in _COMPARED and len(args) > 1 and isinstance(args[1], int | float):
        unmark(full_of(out, _COMPARED[name](value, args[1])))
    elif name == "sum" and shadow(out) is None and 0 < elements(out) <= LIMIT:
        total = value * (elements(given) // elements(out))
        unmark(carry(out, torch.full(numbers(out.shape), total, dtype=out.dtype, device="cpu")))
