"""Shapes of an attention in; a refusal out where torch refuses them, on meta as on every other device."""

from __future__ import annotations

from torch import SymInt, Tensor

_Size = int | SymInt


def check_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, grouped: bool = False
) -> None:
    """Hold the shapes of query (..., Hq, Sq, D), key (..., Hk, Sk, D) and value (..., Hk, Sk, Dv) together.

    Batches and heads must be equal or 1, as they are broadcast; `grouped` (`enable_gqa`) wants heads of the
    query that are a multiple of those of key and value. A mask is broadcast to (..., Hq, Sq, Sk).

    Raises:
        RuntimeError: where torch refuses the call.
    """
    _equal(query.shape[-1], key.shape[-1], "the last dimension of query and key")
    _equal(key.shape[-2], value.shape[-2], "the lengths of key and value")
    outside = len(query.shape) - 2
    for other, name in ((key, "key"), (value, "value")):
        for place in range(-3, -3 - min(outside, len(other.shape) - 2), -1):
            if place == -3 and grouped:
                heads, groups = query.shape[-3], other.shape[-3]
                if heads % groups != 0:
                    raise RuntimeError(f"attention: {heads} heads are no multiple of {groups} of {name}")
            else:
                _broadcast(query.shape[place], other.shape[place], f"dimension {place} of query and {name}")
    if mask is not None:
        scores = (*query.shape[:-1], key.shape[-2])
        for place in range(-1, -1 - min(len(mask.shape), len(scores)), -1):
            _fits(mask.shape[place], scores[place], f"dimension {place} of the mask and the scores")


def _equal(one: _Size, other: _Size, what: str) -> None:
    if one is not other and one != other:
        raise RuntimeError(f"attention: {what} must be equal, not {one} and {other}")


def _broadcast(one: _Size, other: _Size, what: str) -> None:
    if one is not other and one != other and one != 1 and other != 1:
        raise RuntimeError(f"attention: {what} must be equal or 1, not {one} and {other}")


def _fits(size: _Size, wanted: _Size, what: str) -> None:
    """A mask may be 1 where the scores are not, never the other way."""
    if size is not wanted and size != wanted and size != 1:
        raise RuntimeError(f"attention: {what} must be equal or 1, not {size} and {wanted}")
