"""Caches of functions in; out the same functions, which compute anew where a run must not see another's.

A cache looks arguments up by hash and compares them. A symbol's hash is its hint's: one met before with the
same hint would be found, the comparison would fix both at it, and what comes out would be the other's. And a
tensor that an earlier run left there would cost nothing in this one.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType, FunctionType, ModuleType
from typing import NamedTuple
from weakref import WeakSet

import torch

_CACHED = type(functools.lru_cache(lambda: None))
OURS = ("torch", "sympy", "forwardbook", "importlib", "_frozen_importlib", *sys.stdlib_module_names)
_plain: WeakSet[Callable[..., object]] = WeakSet()
"""Caches of functions that gave something and no tensor: what they hold is as good in another run."""


class Uncached:
    """A function with a cache, called without it where an argument is symbolic, or tensors come out."""

    def __init__(self, cached: Callable[..., object]) -> None:
        self._cached = cached
        self._function: Callable[..., object] = cached.__wrapped__  # type: ignore[attr-defined]

    def __call__(self, *args: object, **kwargs: object) -> object:
        """The function's result."""
        if _has((args, kwargs), torch.SymInt | torch.SymFloat | torch.SymBool):
            return self._function(*args, **kwargs)
        if self._cached in _plain:
            return self._cached(*args, **kwargs)
        found = self._function(*args, **kwargs)
        if not _has(found, torch.Tensor):
            _plain.add(self._cached)
        return found

    def __getattr__(self, name: str) -> object:
        return getattr(self._cached, name)


def _has(value: object, kind: object) -> bool:
    """Whether there is something of the kind in it."""
    if isinstance(value, kind):  # type: ignore[arg-type]
        return True
    if isinstance(value, dict):
        return any(_has(one, kind) for one in value.values())
    return isinstance(value, tuple | list) and any(_has(one, kind) for one in value)


@contextmanager
def caches_apart() -> Iterator[None]:
    """Inside, functions with caches compute anew where a symbol is given or tensors come out.

    They are found in the globals of loaded modules and in what decorators put around functions and methods.
    """
    found = _held(loaded())
    for module, name, cached in found.names:
        if vars(module).get(name) is cached:
            setattr(module, name, Uncached(cached))
    for cell, cached in found.cells:
        cell.cell_contents = Uncached(cached)
    try:
        yield
    finally:
        for module, name, cached in found.names:
            if isinstance(vars(module).get(name), Uncached):
                setattr(module, name, cached)
        for cell, cached in found.cells:
            cell.cell_contents = cached


def loaded() -> tuple[int, int]:
    """What changes when a module is loaded: how many are, and which came last."""
    return len(sys.modules), id(next(reversed(sys.modules.values())))


class _Found(NamedTuple):
    names: list[tuple[ModuleType, str, Callable[..., object]]]
    cells: list[tuple[CellType, Callable[..., object]]]


@functools.lru_cache(maxsize=1)
def _held(now: tuple[int, int]) -> _Found:
    """Where modules that are loaded now hold functions with caches, torch's and Python's own apart."""
    found = _Found([], [])
    cells: dict[int, CellType] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in OURS or type(module) is not ModuleType:
            continue
        for key, value in list(vars(module).items()):
            if isinstance(value, _CACHED):
                found.names.append((module, key, value))
            elif isinstance(value, type) and value.__module__ == name:
                for member in list(vars(value).values()):
                    cells |= _cells(member)
            else:
                cells |= _cells(value)
    found.cells.extend((cell, cell.cell_contents) for cell in cells.values())
    return found


def _cells(value: object) -> dict[int, CellType]:
    """The cells of a function's closure in which there is a function with a cache."""
    function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    if not isinstance(function, FunctionType) or not function.__closure__:
        return {}
    return {id(cell): cell for cell in function.__closure__ if _is_cached(cell)}


def _is_cached(cell: CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, _CACHED)
    except ValueError:  # nothing is in it yet
        return False
