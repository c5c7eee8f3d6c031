"""The lengths of a weight's slices for sizes that are symbols: torch takes a side as a number.

Weight norm is parametrised by them when a module is built.
"""

from __future__ import annotations

import torch
from torch import Tensor


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm over all sides of a weight but one, of all sides for -1 (ATen/native/WeightNorm.cpp)."""
    norm, last = torch.ops.aten.norm.ScalarOpt_dim, v.dim() - 1
    if dim == -1:
        made: Tensor = torch.ops.aten.norm.Scalar(v, pow)
    elif dim == 0:
        made = norm(v.contiguous().view(v.size(0), -1), pow, [1]).view([v.size(0)] + [1] * last)
    elif dim == last:
        made = norm(v.contiguous().view(-1, v.size(-1)), pow, [0]).view([1] * last + [v.size(-1)])
    else:
        made = norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)
    return made
