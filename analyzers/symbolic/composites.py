"""Functions of torch that are made of others; out what they make where their C++ takes no symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable

from torch._dispatch.python import enable_python_dispatcher

_NO_SYMBOLS = ("symbolic sizes/strides", "SymIntArrayRef", "expected to be int but got")


def call(func: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """`func`, through torch's Python decompositions where its own composite cannot take symbolic sizes."""
    try:
        return func(*args, **kwargs)
    except (RuntimeError, TypeError) as problem:
        if not any(text in str(problem) for text in _NO_SYMBOLS):
            raise
    with enable_python_dispatcher():
        return func(*args, **kwargs)
