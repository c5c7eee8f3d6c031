"""Operators and the shapes of their inputs in; the products and attentions among them, with flops, out."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, Literal

Shape = tuple[int, ...]
Kind = Literal["gemm", "attention", "convolution"]


@dataclass(frozen=True)
class Contraction:
    """What one call multiplies: flops count a multiply-accumulate as 2, attention every pair of positions.

    `matrices` are batch, m, k and n of products of an m x k and a k x n matrix; of all others there are none.
    """

    kind: Kind
    flops: int
    shape: str
    matrices: tuple[int, int, int, int] | None = None


class ShapeUnknown(ValueError):
    """A contraction whose sizes its inputs do not say; the text says which are missing."""


def contraction(operator: str, shapes: Sequence[Shape], concrete: Sequence[str] = ()) -> Contraction | None:
    """The product that a call computes; None for an operator that is no contraction.

    Raises:
        ShapeUnknown: for a contraction whose sizes cannot be told from what was recorded.
    """
    rule = _RULES.get(operator) or _attention_rule(operator)
    if rule is None:
        return None
    try:
        return rule(shapes, concrete)
    except (IndexError, ValueError, SyntaxError) as error:
        if isinstance(error, ShapeUnknown):
            raise
        raise ShapeUnknown(
            f"inputs {', '.join(map(str, shapes)) or 'without shapes'} do not fit it"
        ) from error


def _gemm(first: int) -> Callable[[Sequence[Shape], Sequence[str]], Contraction]:
    """Two matrices from the input number `first` on, each with the same leading batch."""

    def rule(shapes: Sequence[Shape], concrete: Sequence[str]) -> Contraction:
        left, right = shapes[first], shapes[first + 1]
        (*batch, m, k), (*others, k2, n) = left, right
        if k != k2 or batch != others:
            raise ShapeUnknown(f"{left} and {right} do not multiply")
        times = prod(batch)
        text = f"{m}x{k} @ {k}x{n}" if not batch else f"{times} of {m}x{k} @ {k}x{n}"
        return Contraction("gemm", 2 * times * m * k * n, text, (times, m, k, n))

    return rule


def _vector(first: int) -> Callable[[Sequence[Shape], Sequence[str]], Contraction]:
    def rule(shapes: Sequence[Shape], concrete: Sequence[str]) -> Contraction:
        (m, k), (k2,) = shapes[first], shapes[first + 1]
        if k != k2:
            raise ShapeUnknown(f"{m}x{k} and {k2} do not multiply")
        return Contraction("gemm", 2 * m * k, f"{m}x{k} @ {k}")

    return rule


def _dot(shapes: Sequence[Shape], concrete: Sequence[str]) -> Contraction:
    (k,), (k2,) = shapes[0], shapes[1]
    if k != k2:
        raise ShapeUnknown(f"{k} and {k2} do not multiply")
    return Contraction("gemm", 2 * k, f"{k} @ {k}")


def _attention(heads: int, rows: int) -> Callable[[Sequence[Shape], Sequence[str]], Contraction]:
    """Query, key and value of four dimensions; where heads and rows stand differs by kernel."""

    def rule(shapes: Sequence[Shape], concrete: Sequence[str]) -> Contraction:
        query, key, value = shapes[0], shapes[1], shapes[2]
        if not len(query) == len(key) == len(value) == 4:
            raise ShapeUnknown(f"{query}, {key}, {value} are not query, key and value of four dimensions")
        batch, h, q, k = query[0], query[heads], query[rows], key[rows]
        text = f"{batch}x{h} heads, {q} on {k}, {query[3]}+{value[3]}"
        return Contraction("attention", 2 * batch * h * q * k * (query[3] + value[3]), text)

    return rule


def _convolution(shapes: Sequence[Shape], concrete: Sequence[str]) -> Contraction:
    data, weight = shapes[0], shapes[1]
    if len(concrete) < 9 or not concrete[3]:
        raise ShapeUnknown("stride and padding were not recorded")
    stride, padding, dilation = (_numbers(concrete[i], len(weight) - 2) for i in (3, 4, 5))
    if str(concrete[6]) not in ("False", "0", "false"):
        raise ShapeUnknown("it is transposed")
    out = [
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, s, p, d in zip(data[2:], weight[2:], stride, padding, dilation, strict=True)
    ]
    flops = 2 * data[0] * prod(out) * prod(weight)
    return Contraction("convolution", flops, f"{data} * {weight}")


def _numbers(text: str, count: int) -> list[int]:
    found = ast.literal_eval(text)
    listed = list(found) if isinstance(found, list | tuple) else [found]
    return [int(one) for one in (listed * count if len(listed) == 1 else listed)]


_RULES: Final = {
    "aten::mm": _gemm(0),
    "aten::_scaled_mm": _gemm(0),
    "aten::_int_mm": _gemm(0),
    "aten::addmm": _gemm(1),
    "aten::addmm_": _gemm(1),
    "aten::bmm": _gemm(0),
    "aten::baddbmm": _gemm(1),
    "aten::mv": _vector(0),
    "aten::addmv": _vector(1),
    "aten::addmv_": _vector(1),
    "aten::dot": _dot,
    "aten::convolution": _convolution,
    "aten::_flash_attention_forward": _attention(2, 1),
    "aten::_efficient_attention_forward": _attention(2, 1),
    "flash_attn::_flash_attn_forward": _attention(2, 1),
}
_SDPA = re.compile(r"aten::_scaled_dot_product_\w*attention\w*")


def _attention_rule(operator: str) -> Callable[[Sequence[Shape], Sequence[str]], Contraction] | None:
    """The fused kernels behind scaled_dot_product_attention; its plain one is made of products that count."""
    if not _SDPA.fullmatch(operator) or "math" in operator or "backward" in operator:
        return None
    return _attention(1, 2)
