"""Turns one fused attention operation into the pairs of positions it multiplies, and those that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import torch
from torch import Tensor

from forwardbook.analyzers.ops import Operation, Size
from forwardbook.analyzers.ops.operation import Operand
from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.shadows import shadow

NAME: Final = "forwardbook.sdpa"
MASKED: Final = -1e4
"""What is added to a score that shall not count is this or less."""


@dataclass(frozen=True, slots=True)
class Attention:
    """Positions of queries and of keys in one attention, and the pairs that its mask leaves in this run.

    `pairs` is None where the mask's values are not known; without a mask every pair counts. A `fused` one is
    one operation; else it is one of the two products around a softmax.
    """

    queries: Size
    keys: Size
    pairs: int | None
    fused: bool = True


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
        value = shadow(mask)
        pairs = None if value is None else kept([open_in(value)], rows, columns)
    return Attention(query.shape[-2], key.shape[-2], pairs)


def open_in(mask: Tensor) -> Tensor:
    """Where a mask, of truths or added to scores, lets a pair count."""
    return mask if mask.dtype == torch.bool else mask > MASKED


def kept(masks: Sequence[Tensor], rows: int, columns: int) -> int | None:
    """The pairs of one batch and head that all masks leave, where every batch and head has as many."""
    if not masks:
        return rows * columns
    every = torch.broadcast_tensors(*masks)
    left = every[0]
    for one in every[1:]:
        left = left & one
    if left.dim() < 2 or left.shape[-2:] != (rows, columns):
        try:
            left = left.broadcast_to((*left.shape[:-2], rows, columns))
        except RuntimeError:
            return None  # laid out in another way
    counts = left.flatten(0, -3).sum((-2, -1)) if left.dim() > 2 else left.sum().reshape(1)
    return int(counts[0]) if bool((counts == counts[0]).all()) else None
