"""What a constructor or a forward() is handed: a nest of values whose sizes and tensors can be made anew.

A model runs once with symbols for sizes. Each argument that it hands to a module is kept as it was at that
moment, and made again later with other sizes: lists, dictionaries, configs and caches around them stay.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import torch
from torch import Tensor

from forwardbook.analyzers.derive.layout import TensorLayout
from forwardbook.analyzers.symbolic.ledger import hint_of

DEPTH: Final = 8
"""How deep objects are looked into: a config within a config, the tensors of a layer of a cache."""
_PLAIN: Final = frozenset((bool, int, float, str, type(None)))
_CLOSED: Final = (type, ModuleType, torch.dtype, torch.device)

Leaf = TensorLayout | torch.SymInt
Value = Tensor | torch.SymInt | torch.SymFloat | torch.SymBool


class Unlifted(Exception):
    """An argument that cannot be made anew: a module, or an object that refuses to be copied."""


@dataclass(frozen=True)
class Handed:
    """Arguments by parameter as they were handed over, and their leaves by path (`config.hidden_size`).

    In place of each tensor is its layout.
    """

    arguments: Mapping[str, Any]
    leaves: tuple[tuple[str, Leaf], ...]

    @staticmethod
    def of(arguments: Mapping[str, object]) -> Handed:
        """The arguments as they are now.

        Raises:
            Unlifted: where one cannot be copied.
        """
        each = {name: _itself(value) for name, value in arguments.items()}
        found = list(_leaves(each, "", DEPTH, set()))
        kept = {id(leaf): _kept(leaf) for _, leaf in found}
        every = [(path, kept[id(leaf)]) for path, leaf in found]
        leaves = tuple((path, one) for path, one in every if isinstance(one, Leaf))
        try:
            return Handed(copy.deepcopy(each, dict(kept)), leaves)
        except Exception as error:
            raise Unlifted(f"copying what is handed over: {type(error).__name__}") from error

    def anew(
        self, make: Callable[[str, Leaf], object], dtypes: Mapping[torch.dtype, torch.dtype] | None = None
    ) -> dict[str, Any]:
        """The arguments with each leaf as `make` has it, one leaf in several places once; other dtypes."""
        made: dict[int, object] = {id(old): new for old, new in (dtypes or {}).items()}
        for path, leaf in self.leaves:
            if id(leaf) not in made:
                made[id(leaf)] = make(path, leaf)
        return copy.deepcopy(dict(self.arguments), made)

    def key(self, size: Callable[[str, Leaf], object]) -> object:
        """What tells these arguments from others, with each leaf as `size` says it."""
        told = {id(leaf): size(path, leaf) for path, leaf in self.leaves}
        return _key(dict(self.arguments), told, set())


def _kept(value: Value) -> Leaf | float | bool:
    """What is kept of a tensor or a symbolic number: factors and answers are those of this run."""
    if isinstance(value, Tensor):
        return TensorLayout.of(value)
    if isinstance(value, torch.SymInt):
        return value
    number = hint_of(value)
    assert isinstance(number, bool | float)
    return number


def _itself(value: object) -> object:
    """An argument; a size that is another argument as well, by itself: `Linear(dim, dim)` has two widths."""
    return torch.SymInt(value.node) if isinstance(value, torch.SymInt) else value


def _leaves(value: object, path: str, depth: int, seen: set[int]) -> Iterator[tuple[str, Value]]:
    """The tensors and sizes in a value, each with a path of names that leads to it."""
    if isinstance(value, torch.nn.Parameter):
        raise Unlifted("a weight of another module is handed over")
    if isinstance(value, Value):
        yield path, value
        return
    if isinstance(value, torch.nn.Module):
        raise Unlifted(f"a module of class {type(value).__name__} is handed over")
    if depth and id(value) not in seen and not _is_plain(value):
        for name, inner in parts_of(value):
            seen.add(id(value))
            yield from _leaves(inner, f"{path}.{name}" if path else name, depth - 1, seen)


def _is_plain(value: object) -> bool:
    """Whether a collection holds plain values alone, as the names of labels in a config."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else None
    return inner is not None and _PLAIN.issuperset(map(type, inner))


def parts_of(value: object) -> list[tuple[str, object]]:
    """What a value holds by name: a collection its elements, a config or a cache its attributes."""
    if isinstance(value, Mapping):
        return [(str(key), one) for key, one in value.items()]
    if isinstance(value, list | tuple):
        return [(str(place), one) for place, one in enumerate(value)]
    if isinstance(value, _CLOSED) or callable(value) or not hasattr(value, "__dict__"):
        return []
    return list(vars(value).items())


def _key(value: object, told: Mapping[int, object], seen: set[int]) -> object:
    if id(value) in told or isinstance(value, bool | int | float | str | None):
        return told.get(id(value), value)
    parts = [] if id(value) in seen else parts_of(value)
    if not parts:
        return f"{type(value).__name__} {getattr(value, '__name__', '')}"
    seen.add(id(value))
    return type(value).__name__, *((name, _key(one, told, seen)) for name, one in parts)
