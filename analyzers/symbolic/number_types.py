"""Lets torch take what stands for `int` and `float` in analysed code where a dtype is asked for.

`torch.zeros(3, dtype=int)` is a tensor of 64-bit integers: torch knows Python's own types by identity alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import torch
from torch.utils import _device

_PLAIN: Final = (int, float, bool, complex)
_FUNCTIONS: Final = (
    *("zeros", "ones", "empty", "full", "tensor", "as_tensor", "asarray", "arange", "linspace", "eye"),
    *("zeros_like", "ones_like", "empty_like", "full_like", "rand", "randn", "randint", "randperm"),
    *("scalar_tensor", "sum", "mean", "prod", "cumsum", "cumprod", "softmax", "log_softmax"),
)
_METHODS: Final = (
    *("to", "new_zeros", "new_ones", "new_empty", "new_full", "new_tensor"),
    *("sum", "mean", "prod", "cumsum", "cumprod", "softmax", "log_softmax"),
)
_PLACES: Final = (
    *((torch, name) for name in _FUNCTIONS),
    *((torch.Tensor, name) for name in _METHODS),
    (torch.nn.Module, "to"),
)


def _plain(value: object) -> object:
    """The builtin type that a type stands for, which says that it equals it; other values as they are."""
    if not isinstance(value, type) or value in _PLAIN and any(value is one for one in _PLAIN):
        return value
    return next((one for one in _PLAIN if value == one), value)


def _taking(function: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        plain = [_plain(one) for one in args]
        return function(*plain, **{name: _plain(value) for name, value in kwargs.items()})

    return call


_TAKING: Final = {place: _taking(getattr(*place)) for place in _PLACES}
ITSELF: Final = {taking: getattr(*place) for place, taking in _TAKING.items()}
"""Torch's own function or method by what stands in its place."""


@contextmanager
def types_of_numbers() -> Iterator[None]:
    """Inside, functions and methods of torch that take a dtype take what stands for `int` or `float`."""
    _device._device_constructors()  # which remembers torch's functions when it is first asked
    before = [(home, name, vars(home).get(name)) for home, name in _PLACES]
    for (home, name), taking in _TAKING.items():
        setattr(home, name, taking)
    try:
        yield
    finally:
        for home, name, own in before:
            if own is None:
                delattr(home, name)  # it is its base's
            else:
                setattr(home, name, own)
