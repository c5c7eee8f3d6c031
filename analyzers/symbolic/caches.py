"""Caches of functions in; out the same functions, which compute anew wherever a symbolic integer is given.

A cache looks arguments up by hash and compares them. A symbol's hash is its hint's: one met before with the
same hint would be found, the comparison would fix both at it, and what comes out would be the other's.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

import torch

_CACHED = type(functools.lru_cache(lambda: None))
_OURS = ("torch", "sympy", "forwardbook", "importlib", "_frozen_importlib", *sys.stdlib_module_names)


class Uncached:
    """A function with a cache, called without it where an argument is symbolic."""

    def __init__(self, cached: Callable[..., object]) -> None:
        self._cached = cached
        self._function: Callable[..., object] = cached.__wrapped__  # type: ignore[attr-defined]

    def __call__(self, *args: object, **kwargs: object) -> object:
        """The function's result."""
        called = self._function if _symbolic((args, kwargs)) else self._cached
        return called(*args, **kwargs)

    def __getattr__(self, name: str) -> object:
        return getattr(self._cached, name)


def _symbolic(value: object) -> bool:
    """Whether there is a symbol in it."""
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return True
    if isinstance(value, dict):
        return any(map(_symbolic, value.values()))
    return isinstance(value, tuple | list) and any(map(_symbolic, value))


@contextmanager
def symbols_uncached() -> Iterator[None]:
    """Inside, functions with caches in the globals of loaded modules compute anew where a symbol is given."""
    patched: list[tuple[ModuleType, str, object]] = []
    for module, names in _modules(loaded()):
        for name in names:
            cached = vars(module).get(name)
            if isinstance(cached, _CACHED):
                setattr(module, name, Uncached(cached))
                patched.append((module, name, cached))
    try:
        yield
    finally:
        for module, name, cached in patched:
            setattr(module, name, cached)


def loaded() -> tuple[int, int]:
    """What changes when a module is loaded: how many are, and which came last."""
    return len(sys.modules), id(next(reversed(sys.modules.values())))


@functools.lru_cache(maxsize=1)
def _modules(now: tuple[int, int]) -> list[tuple[ModuleType, tuple[str, ...]]]:
    """The modules, torch's and Python's own apart, with the names of their functions that have caches.

    What was found holds until one more is loaded.
    """
    found = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _OURS or type(module) is not ModuleType:
            continue
        cached = tuple(k for k, v in vars(module).items() if isinstance(v, _CACHED))
        if cached:
            found.append((module, cached))
    return found
