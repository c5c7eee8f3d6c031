"""How a value rides along on a meta tensor: carried, read back, made for masks that are true everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves, tree_map

from forwardbook.analyzers.symbolic.ledger import number_of

T = TypeVar("T")

LIMIT = 1 << 20  # elements; above it a value is not carried: the copies would cost more than the run


def shadow(tensor: Tensor) -> Tensor | None:
    """The real value carried by `tensor`, if any."""
    value: Tensor | None = getattr(tensor, "_forwardbook_value", None)
    return value


def carry(tensor: Tensor, value: Tensor | None) -> Tensor:
    """`tensor`, carrying `value` if it is small."""
    if value is not None and value.numel() <= LIMIT:
        tensor._forwardbook_value = value  # type: ignore[attr-defined]
    return tensor


def to_meta(value: Tensor) -> Tensor:
    """A meta tensor of the same layout that carries `value`."""
    return carry(torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta"), value)


def zeros(tensor: Tensor) -> Tensor:
    """A value of zeros of a tensor's shape. Those of one shape are one in memory, until one is written to.

    A model of thousands of codebooks has each of them full of zeros, twice.
    """
    return torch._lazy_clone(_zeros(numbers(tensor.shape), tensor.dtype))


def cloned(tensor: Tensor) -> Tensor | None:
    """The value of a clone of a tensor, which takes memory once either is written to."""
    value = shadow(tensor)
    if value is None:
        return None
    return torch._lazy_clone(value) if value.is_contiguous() else value.clone()


@lru_cache(maxsize=16)
def _zeros(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    return torch.zeros(shape, dtype=dtype, device="cpu")


def numbers(shape: Iterable[int]) -> tuple[int, ...]:
    """The numbers of sizes in this run."""
    return tuple(number_of(size) for size in shape)


def elements(tensor: Tensor) -> int:
    """The number of elements in this run; a lazy parameter (no shape yet) counts as too many to carry."""
    if is_lazy(tensor):
        return LIMIT + 1
    product = 1
    for size in tensor.shape:
        product *= size if type(size) is int else number_of(size)
    return product


def element_count(tensor: Tensor) -> int:
    """The number of elements, symbolic where a size is."""
    product: int = 1
    for size in tensor.shape:
        product = product * size
    return product


def _everything(mask: Tensor) -> Tensor:
    return torch.ones(numbers(mask.shape), dtype=torch.bool, device="cpu").nonzero()


def rows(mask: Tensor) -> Tensor:
    """`nonzero` of a mask that is true everywhere: one row for each element."""
    shape = (element_count(mask), mask.dim())
    return carry(torch.empty(shape, dtype=torch.int64, device="meta"), _everything(mask))


def columns(mask: Tensor) -> list[Tensor]:
    """The same, one tensor for each dimension."""
    return apart(_everything(mask), element_count(mask))


def one_of_each_row(mask: Tensor) -> list[Tensor]:
    """The same of a matrix that is true once in each row, as a target among classes; none where it is not."""
    value = shadow(mask)
    if value is None or value.dim() != 2 or not value.numel() or not bool((value.bool().sum(1) == 1).all()):
        return []
    return apart(value.bool().nonzero(), mask.shape[0])


def apart(places: Tensor, count: int) -> list[Tensor]:
    """The columns of what `nonzero` gives, on meta; `count` is the number of places, symbolic where it is."""
    found = (column.contiguous() for column in places.unbind(1))
    return [carry(torch.empty((count,), dtype=torch.int64, device="meta"), column) for column in found]


def tensors_in(tree: object) -> list[Tensor]:
    """The tensors of a nest of containers, in order."""
    return [leaf for leaf in leaves_in(tree) if isinstance(leaf, Tensor)]


def leaves_in(tree: object) -> list[object]:
    """What torch's `tree_leaves` gives, at a fifth of its price for arguments of operations."""
    found: list[object] = []
    _gather(tree, found)
    return found


def mapped(change: Callable[[object], object], tree: T) -> T:
    """What torch's `tree_map` gives, at a fifth of its price for arguments of operations."""
    return _changed(change, tree)  # type: ignore[return-value]


def _changed(change: Callable[[object], object], tree: object) -> object:
    kind = type(tree)
    if kind in _LEAVES:
        return change(tree)
    if kind is tuple:
        return tuple([_changed(change, one) for one in tree])  # type: ignore[attr-defined]
    if kind is list:
        return [_changed(change, one) for one in tree]  # type: ignore[attr-defined]
    if kind is dict:
        return {key: _changed(change, one) for key, one in tree.items()}  # type: ignore[attr-defined]
    return tree_map(change, tree)


def _gather(tree: object, found: list[object]) -> None:
    kind = type(tree)
    if kind in _LEAVES:
        found.append(tree)
    elif kind is tuple or kind is list:
        for one in tree:  # type: ignore[attr-defined]
            _gather(one, found)
    elif kind is dict:
        for one in tree.values():  # type: ignore[attr-defined]
            _gather(one, found)
    else:
        found += tree_leaves(tree)


_LEAVES = {
    *(Tensor, torch.nn.Parameter, torch.SymInt, torch.SymFloat, torch.SymBool),
    *(int, float, bool, str, type(None), torch.dtype, torch.device),
}
