"""Resampling as one operation, and sizes that stand in tensors of one number, wherever torch takes some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.library import custom_op
from torch.utils._pytree import tree_map

from forwardbook.analyzers.symbolic.rounding import floors, ratio_of
from forwardbook.analyzers.symbolic.windows import laid_out_as

_interpolate, _pad = F.interpolate, F.pad


@custom_op("forwardbook::interpolate", mutates_args=())
def interpolate(
    input: Tensor, size: Sequence[int], mode: str, align_corners: bool, antialias: bool
) -> Tensor:
    """Resampling of input (N, C, *spatial) to (N, C, *size)."""
    corners = align_corners if mode in ("linear", "bilinear", "bicubic", "trilinear") else None
    return _interpolate(input, list(size), mode=mode, align_corners=corners, antialias=antialias).clone()


@interpolate.register_fake
def _(input: Tensor, size: Sequence[int], mode: str, align_corners: bool, antialias: bool) -> Tensor:
    shape = [*input.shape[:2], *size]
    if mode == "area" and input.dim() == 3:  # a pool of images of one row
        return laid_out_as(input.unsqueeze(2), [*shape[:2], 1, *size]).squeeze(2)
    if mode == "area" and input.dim() == 5:
        return input.new_empty(shape)
    return laid_out_as(input, shape)


def _target_size(
    input: Tensor, size: int | Sequence[int] | None, factor: float | Sequence[float] | None
) -> list[int]:
    """The spatial size asked for, floor(size * factor) where a factor is given."""
    spatial = input.dim() - 2
    if size is not None:
        given = tree_map(scalar, size)
        return list(given) if isinstance(given, tuple | list) else [given] * spatial
    factors = factor if isinstance(factor, tuple | list) else [cast("float", factor)] * spatial
    wanted = []
    for length, one in zip(input.shape[2:], factors, strict=True):
        wanted.append(_scaled(length, one))
    return wanted


def _scaled(length: int, factor: float) -> int:
    """`floor(length * factor)` as floats have it."""
    ratio = ratio_of(factor) if isinstance(factor, int | float) and floors(factor) else None
    return torch.sym_int(length * factor) if ratio is None else length * ratio.numerator // ratio.denominator


def resized(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """What `torch.nn.functional.interpolate` gives, by the one operation."""
    wanted = _target_size(input, size, scale_factor)
    out: Tensor = interpolate(input, wanted, mode, bool(align_corners), antialias)
    return out


def padded(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """What `torch.nn.functional.pad` gives."""
    return _pad(input, tree_map(scalar, list(pad)), mode, value)


def scalar(leaf: object) -> object:
    """The number in a tensor that holds one; anything else itself."""
    return leaf.item() if isinstance(leaf, Tensor) and leaf.dim() == 0 else leaf
