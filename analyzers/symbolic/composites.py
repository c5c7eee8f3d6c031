"""Functions of torch that are made of others; out what they make where their C++ takes no symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch._dispatch.python import enable_python_dispatcher

COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
"""What an operation is registered under that consists of others."""

_NO_SYMBOLS = ("symbolic sizes/strides", "SymIntArrayRef", "expected to be int but got")


def call(func: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """`func`, through torch's Python decompositions where its own composite cannot take symbolic sizes."""
    try:
        return func(*args, **kwargs)
    except (RuntimeError, TypeError) as problem:
        if not _wants_numbers(problem):
            raise
    with enable_python_dispatcher():
        return func(*args, **kwargs)


def taken_apart(
    func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    """`func` as the operations of torch's own composite, not of a decomposition in Python beside it.

    That of `matmul` takes other operations; it serves where the composite cannot take symbolic sizes.
    """
    if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), COMPOSITE):
        try:
            return func._op_dk(COMPOSITE, *args, **kwargs)
        except (RuntimeError, TypeError) as problem:
            if not _wants_numbers(problem):
                raise
    return func.decompose(*args, **kwargs)


def _wants_numbers(problem: Exception) -> bool:
    return any(text in str(problem) for text in _NO_SYMBOLS)
