"""What a class is told beside sizes: what tells the ways to call it from each other."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import torch
from pydantic import JsonValue

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.handed import Handed
from forwardbook.analyzers.derive.layout import TensorLayout

_DEPTH: Final = 3
_PLAIN: Final = (bool, int, float, str, type(None))
_CACHE: Final = re.compile(r"cache|past|^mems$|^state$")
"""Names of arguments that hold what earlier calls left; what is neither a tensor nor plain is one."""


@dataclass(frozen=True)
class Layout:
    """How a tensor is handed over: its dimensions, those that are 1 long, how it lies in memory."""

    rank: int
    ones: tuple[int, ...] = ()
    transposed: bool = False
    expanded: bool = False
    dtype: str = ""
    """Its format where that is not the one of activations but might be."""

    @property
    def is_scattered(self) -> bool:
        """Whether its elements are not in order in memory."""
        return self.transposed or self.expanded


@dataclass(frozen=True)
class Handover:
    """That an object is handed over: a cache, a tuple of tensors."""

    cache: bool = False
    filled: bool = False
    """Whether a cache holds tensors of earlier calls."""

    @property
    def choice(self) -> JsonValue:
        """What is chosen of a cache."""
        return ("filled" if self.filled else "empty") if self.cache else None


Fact = JsonValue | Layout | Handover


@dataclass(frozen=True)
class Facts:
    """What a class is told, by path (`bias`, `config.hidden_act`), of tensors and objects in what form."""

    told: Mapping[str, Fact] = field(default_factory=dict)
    unusual: frozenset[str] = frozenset()
    """The arguments that are not what they are by default."""

    @property
    def cache(self) -> str | None:
        """The argument that holds what earlier calls left."""
        return next((p for p, one in self.told.items() if isinstance(one, Handover) and one.cache), None)

    @property
    def main(self) -> str | None:
        """The first tensor that forward() takes."""
        return next((p for p, one in self.told.items() if isinstance(one, Layout) and "." not in p), None)

    @property
    def special(self) -> int:
        """How many tensors are handed over in a form of their own."""
        layouts = [one for path, one in self.told.items() if isinstance(one, Layout) and "." not in path]
        return sum(bool(one.ones or one.is_scattered or one.dtype) for one in layouts)

    @property
    def decodes(self) -> bool:
        """Whether one position is put to those in a cache."""
        layout = self.told.get(self.main or "")
        cache = self.told.get(self.cache or "")
        filled = isinstance(cache, Handover) and cache.filled
        return filled and isinstance(layout, Layout) and 1 in layout.ones


def facts_of(boundary: Boundary) -> Facts:
    """What a class is told that is no size."""
    kind, found, unusual = boundary.kind, dict[str, Fact](), set[str]()
    for name, value, usual in _arguments(kind.__init__, boundary.constructor):
        found.update(_flat(name, value, boundary.dtype, _DEPTH))
        unusual |= set() if _is_usual(value, usual) else {name}
    for name, value, usual in _arguments(kind.forward, boundary.forward):
        found.update(_flat(name, value, boundary.dtype, _DEPTH))
        unusual |= set() if _is_usual(value, usual) else {name}
        if not isinstance(value, (*_PLAIN, TensorLayout, torch.SymInt)):
            leaves = boundary.forward.leaves
            filled = any(
                path.startswith(f"{name}.") and isinstance(one, TensorLayout) for path, one in leaves
            )
            found[name] = Handover(_CACHE.search(name) is not None, filled)
    return Facts(found, frozenset(unusual))


def _arguments(function: Callable[..., object], handed: Handed) -> Iterator[tuple[str, object, object]]:
    """Each argument by name, those that a signature does not name among them, with its default."""
    parameters = inspect.signature(function).parameters
    for name, value in handed.arguments.items():
        parameter = parameters.get(name)
        if parameter is not None and parameter.kind is parameter.VAR_KEYWORD:
            yield from ((inner, one, None) for inner, one in value.items())
        else:
            yield name, value, inspect.Parameter.empty if parameter is None else parameter.default


def path_of_caller(boundary: Boundary, path: str) -> str:
    """A path among the arguments of forward() as a caller writes it: without `kwargs.`."""
    parameters = inspect.signature(boundary.kind.forward).parameters
    first, _, rest = path.partition(".")
    parameter = parameters.get(first)
    keyword = parameter is not None and parameter.kind is parameter.VAR_KEYWORD
    return rest if keyword and rest else path


def _is_usual(value: object, usual: object) -> bool:
    """Whether an argument is as by default, has no default, or is a fraction that changes no cost."""
    if usual is inspect.Parameter.empty or type(value) is type(usual) is float:
        return True
    return isinstance(value, _PLAIN) and type(value) is type(usual) and value == usual


def _flat(path: str, value: object, dtype: torch.dtype, depth: int) -> Iterator[tuple[str, Fact]]:
    if isinstance(value, TensorLayout):
        yield path, _layout(value, dtype)
    elif isinstance(value, _PLAIN):
        yield path, value
    elif depth and not isinstance(value, torch.SymInt):
        inner = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
        if isinstance(value, list | tuple):
            inner = dict(enumerate(value))
        for name, one in inner.items():
            if not str(name).startswith("_"):
                yield from _flat(f"{path}.{name}", one, dtype, depth - 1)


def _layout(one: TensorLayout, dtype: torch.dtype) -> Layout:
    ones = tuple(place for place, size in enumerate(one.shape) if isinstance(size, int) and size == 1)
    other = one.dtype.is_floating_point and one.dtype != dtype
    name = str(one.dtype).removeprefix("torch.") if other else ""
    return Layout(one.rank, ones, one.order != tuple(range(one.rank)), bool(one.expanded), name)
