"""Tensors of a run in, operands of rules out; storages are watched from birth to death."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from forwardbook.analyzers.ops import Operand, Size
from forwardbook.analyzers.symbolic.expressions import Expressions
from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.trace import Event, Trace


@dataclass(frozen=True, slots=True)
class Widths:
    """Bytes of an element of the model's dtype in weights, activations and the key-value cache."""

    w: Size
    a: Size
    kv: Size


@dataclass(frozen=True, slots=True)
class _Lie:
    """The sizes of a tensor, how many elements it has apart, and which they are."""

    shape: tuple[Size, ...]
    distinct: Size
    region: tuple[tuple[int, int], ...]


def _told(size: int | torch.SymInt) -> object:
    """What tells a size from others of the run."""
    return (size.node.index,) if isinstance(size, torch.SymInt) else size


class Storages:
    """Every storage of a run under a number of its own; births and deaths are written into the trace."""

    def __init__(
        self, widths: Widths, dtype: torch.dtype, trace: Trace, expressions: Expressions | None
    ) -> None:
        self._widths, self._dtype, self._trace, self._expressions = widths, dtype, trace, expressions
        self.born: dict[int, Size] = {}
        self._kinds: dict[int, str] = {}
        self._states: set[int] = set()
        self._keys: dict[int, int] = {}
        self._held: dict[int, int] = {}
        self._lies: dict[tuple[object, ...], _Lie] = {}
        self._next = 0
        # a registry of Python's holds what is called: the run, by way of it, would hold its own storages
        self._death: weakref.WeakMethod[Callable[[int, int], None]] = weakref.WeakMethod(self._died)

    def weight(self, tensor: Tensor) -> None:
        """Says that a tensor is a parameter or buffer."""
        key = self._trace.tensors[id(tensor)] = self.key(tensor)
        self._kinds[key] = "w"
        self._trace.weights[key] = self.operand(tensor).bytes

    def key(self, tensor: Tensor) -> int:
        """A number for the storage of a tensor that is never given out twice."""
        storage = tensor.untyped_storage()
        key = self._keys.get(storage._cdata)
        return self._numbered(storage) if key is None else key

    def _numbered(self, storage: torch.UntypedStorage) -> int:
        self._next += 1
        key = self._keys[storage._cdata] = self._next
        self._held[key] = number_of(storage.nbytes())
        weakref.finalize(storage, _tell, self._death, storage._cdata, key).atexit = False
        return key

    def cached(self, tensor: Tensor) -> None:
        """Says that a tensor belongs to the key-value cache, unless it is known for something else."""
        key = self.key(tensor)
        self._kinds.setdefault(key, "kv")
        self._states.add(key)

    def state(self, tensor: Tensor) -> None:
        """Says that a tensor is a state that calls hand on; its numbers are as wide as activations."""
        self._states.add(self.key(tensor))

    def is_state(self, key: int) -> bool:
        """Whether the storage belongs to the cache or another state that calls hand on."""
        return key in self._states

    def is_cached(self, key: int) -> bool:
        """Whether the storage belongs to the key-value cache."""
        return self._kinds.get(key) == "kv"

    def bear(self, operand: Operand, size: Size) -> None:
        """Writes down the birth of the storage of an output, of so many bytes, if it was born here."""
        if operand.fresh and operand.storage not in self.born:
            self.born[operand.storage] = size
            event = Event(operand.storage, size, alive=True, operation=len(self._trace.operations))
            self._trace.events.append(event)

    def grow(self, tensor: Tensor, operand: Operand) -> None:
        """Writes down that a tensor was resized: its storage is another, born before the old one dies."""
        storage, old = tensor.untyped_storage(), operand.storage
        held = number_of(storage.nbytes())
        if operand.fresh or old not in self.born or held <= self._held[old]:
            return
        key = self._numbered(storage)
        if old in self._kinds:
            self._kinds[key] = self._kinds[old]
        self._states |= {key} if old in self._states else set()
        self.born[key] = self._trace.capacity[key] = operand.bytes
        operation = len(self._trace.operations)
        self._trace.events.append(Event(key, operand.bytes, alive=True, operation=operation))
        self._trace.events.append(Event(old, self.born.pop(old), alive=False, operation=operation))

    def _died(self, cdata: int, key: int) -> None:
        if self._keys.get(cdata) == key:
            del self._keys[cdata]
        size = self.born.pop(key, None)
        if size is not None:
            self._trace.events.append(Event(key, size, False, len(self._trace.operations)))

    def size(self, value: int | torch.SymInt) -> Size:
        """The expression of a symbolic integer where there are expressions, else its number."""
        if self._expressions is not None and isinstance(value, torch.SymInt):
            return self._expressions.of(value)
        return number_of(value)

    def _width(self, tensor: Tensor, key: int) -> Size:
        if tensor.dtype != self._dtype:
            return tensor.element_size()
        kind = self._kinds.get(key)
        return self._widths.a if kind is None else self._widths.w if kind == "w" else self._widths.kv

    def operand(self, tensor: Tensor, fresh: bool = False, mutated: bool = False) -> Operand:
        """The tensor as a rule sees it."""
        key = self.key(tensor)
        lie = self._lie(tensor)
        width = self._width(tensor, key)
        if key not in self._trace.capacity:
            self._trace.capacity[key] = lie.distinct * width
        return Operand(
            shape=lie.shape,
            width=width,
            distinct=lie.distinct,
            storage=key,
            view=(key, number_of(tensor.storage_offset()), lie.region),
            fresh=fresh,
            mutated=mutated,
            is_floating=tensor.is_floating_point() or tensor.is_complex(),
            is_complex=tensor.is_complex(),
        )

    def _lie(self, tensor: Tensor) -> _Lie:
        """How a tensor lies, worked out once for all of the same sizes and strides."""
        if self._expressions is None:
            told: tuple[object, ...] = (tensor.shape, tensor.stride())
        else:
            told = (*map(_told, tensor.shape), None, *map(_told, tensor.stride()))
        found = self._lies.get(told)
        if found is None:
            shape = tuple(self.size(s) for s in tensor.shape)
            sizes = [number_of(s) for s in tensor.shape]
            strides = [number_of(s) for s in tensor.stride()]
            distinct = self._distinct(tensor, shape, sizes, strides)
            found = self._lies[told] = _Lie(shape, distinct, region(sizes, strides))
        return found

    def _distinct(self, tensor: Tensor, shape: Sequence[Size], sizes: list[int], strides: list[int]) -> Size:
        """Distinct elements: an expanded dimension once; windows that overlap (unfold) what they cover."""
        steps = tensor.stride()
        count: Size = 1
        for size, number, stride in zip(shape, sizes, strides, strict=True):
            if number == 0 or (stride != 0 and number == 1):
                count = count * size
        for first, *others in _overlapping(sizes, strides):
            whole = all(strides[place] % strides[first] == 0 for place in others)
            unit = self.size(steps[first]) if others and whole else 1
            span = shape[first] if whole else 1 + (shape[first] - 1) * self.size(steps[first])
            for place in others:
                span = span + (shape[place] - 1) * (self.size(steps[place]) // unit)
            count = count * span
        return count


def _tell(died: weakref.WeakMethod[Callable[[int, int], None]], cdata: int, key: int) -> None:
    """Tells the run that a storage is gone, if the run is still there."""
    method = died()
    if method is not None:
        method(cdata, key)


def region(sizes: list[int], strides: list[int]) -> tuple[tuple[int, int], ...]:
    """The elements that a view covers, whatever the order and grouping of its dimensions: (stride, size).

    Transposed, flattened and expanded views of the same elements give the same region.
    """
    pairs = sorted(
        ((stride, size) for size, stride in zip(sizes, strides, strict=True) if size != 1 and stride != 0),
        reverse=True,
    )
    merged: list[tuple[int, int]] = []
    for stride, size in pairs:
        if merged and merged[-1][0] == stride * size:
            merged[-1] = (stride, merged[-1][1] * size)
        else:
            merged.append((stride, size))
    return tuple(merged)


def _overlapping(sizes: list[int], strides: list[int]) -> list[list[int]]:
    """Dimensions by groups: positions that differ in one group alone share elements, others never do.

    The first of a group has its smallest stride, of which the others are multiples where some stride divides
    them all. Expanded dimensions (stride 0) and those of one element are in none.
    """
    groups: list[list[int]] = []
    reach = 0
    for stride, size, place in sorted(zip(strides, sizes, range(len(sizes)), strict=True)):
        if size <= 1 or stride == 0:
            continue
        group = [place]
        if stride <= reach:
            group = [*groups.pop(), place]
            while groups and stride % strides[group[0]]:
                group = [*groups.pop(), *group]
        groups.append(group)
        reach += stride * (size - 1)
    return groups
