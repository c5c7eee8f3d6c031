"""Functions of torch that models call with sizes alone: Python's own, where a tensor would forget them."""

from __future__ import annotations

from collections.abc import Callable

import torch

Whole = int | torch.SymInt


def divided(input: Whole, other: Whole, *, rounding_mode: str) -> Whole:
    """What `torch.div` of two whole numbers holds, with `rounding_mode` "trunc" or "floor"."""
    if rounding_mode == "trunc" and (input < 0) != (other < 0):
        return -(-input // other)
    return input // other


def of_sizes(
    func: object, args: tuple[object, ...], kwargs: dict[str, object]
) -> Callable[..., Whole] | None:
    """What stands for `func` where all that it is given are whole numbers and the result is one."""
    rounded = func is torch.div and kwargs.keys() == {"rounding_mode"} and kwargs["rounding_mode"] is not None
    return divided if rounded and all(isinstance(one, Whole) for one in args) else None
