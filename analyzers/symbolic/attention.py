"""Turns one fused attention operation into the pairs of positions it multiplies, and those that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from forwardbook.analyzers.ops import Operation, Size
from forwardbook.analyzers.ops.operation import Operand
from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.shadows import shadow

NAME = "forwardbook.sdpa"


@dataclass(frozen=True, slots=True)
class Attention:
    """Positions of queries and of keys in one attention, and the pairs that its mask leaves in this run.

    `pairs` is None where the mask's values are not known; without a mask every pair counts, or with
    `causal` the lower triangle that the operation is told to keep.
    """

    queries: Size
    keys: Size
    pairs: int | None
    causal: bool


def attention_of(operation: Operation, args: tuple[object, ...]) -> Attention | None:
    """What a recorded operation says of attention; None for every other operation."""
    if operation.name != NAME:
        return None
    query, key = (cast(Operand, operation.arguments[name]) for name in ("query", "key"))
    causal = bool(operation.arguments.get("is_causal", False))
    mask = args[3] if len(args) > 3 else None
    rows, columns = (number_of(cast(Tensor, t).shape[-2]) for t in args[:2])
    pairs: int | None = rows * columns
    if causal:  # torch aligns the triangle with the first row and column
        pairs = sum(min(row + 1, columns) for row in range(rows))
    if isinstance(mask, Tensor):
        pairs = _kept(mask, rows * columns)
    return Attention(query.shape[-2], key.shape[-2], pairs, causal)


def _kept(mask: Tensor, pairs: int) -> int | None:
    """The pairs of one batch and head that a mask leaves, where all of them leave as many."""
    value = shadow(mask)
    if value is None:
        return None
    open_ = value if value.dtype == torch.bool else value > torch.finfo(value.dtype).min / 2
    count = int(open_.sum()) * pairs
    return count // open_.numel() if open_.numel() and count % open_.numel() == 0 else None
