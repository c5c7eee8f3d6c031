"""`scores[tuple(place)]`: one element is picked, and where it lies only a run with data tells.

No cost hangs on which it is, so that the number torch asks such a tensor for is no size of the formula; the
bounds of a slice are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.composites import call


def is_place(tensor: Tensor) -> bool:
    """Whether a tensor of one number says only which element is picked."""
    return bool(getattr(tensor, "_forwardbook_place", False))


def _pick(tensor: Tensor, index: object) -> object:
    listed = index if isinstance(index, tuple) else (index,)
    places = [one for one in listed if isinstance(one, Tensor) and one.dim() == 0]
    _say(places, True)
    try:
        return call(torch.Tensor.__getitem__, (tensor, index), {})
    finally:
        _say(places, False)


def _say(tensors: Iterable[Tensor], is_place: bool) -> None:
    for one in tensors:
        one._forwardbook_place = is_place  # type: ignore[attr-defined]


PICKED: dict[object, Callable[..., object]] = {torch.Tensor.__getitem__: _pick}
