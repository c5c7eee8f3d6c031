"""What one operation is to a rule: operands with sizes and widths that are integers or symbols."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from forwardbook.formula import Expr

Size: TypeAlias = int | Expr


def product(*sizes: Size) -> Size:
    """The product of sizes; of none, 1."""
    result: Size = 1
    for size in sizes:
        result = result * size
    return result


def total(*sizes: Size) -> Size:
    """The sum of sizes; of none, 0."""
    result: Size = 0
    for size in sizes:
        result = result + size
    return result


def smaller(left: Size, right: Size) -> Size:
    """The smaller of two sizes, whichever it turns out to be."""
    if isinstance(left, int) and isinstance(right, int):
        return min(left, right)
    return Expr.minimum(left, right)


def larger(left: Size, right: Size) -> Size:
    """The larger of two sizes, whichever it turns out to be."""
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    return Expr.maximum(left, right)


def is_one(size: Size) -> bool:
    """True where a size is the number 1 itself, whatever the symbols stand for."""
    return size == 1 if isinstance(size, int) else size.is_const and size.const_value() == 1


def broadcast(shapes: Iterable[tuple[Size, ...]]) -> tuple[Size, ...]:
    """The common shape of operands known to broadcast: at each place a size that is not the number 1."""
    result: list[Size] = []
    for shape in shapes:
        missing: list[Size] = [1] * (len(shape) - len(result))
        result = missing + result
        for place in range(-len(shape), 0):
            if is_one(result[place]):
                result[place] = shape[place]
    return tuple(result)


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor as a rule sees it.

    `distinct` counts an expanded (stride 0) dimension once; two operands with equal `view` are the same
    elements; `fresh` outputs live in a storage born in the operation; `mutated` inputs are written in place.
    Of a complex element `width` is that of both its numbers.
    """

    shape: tuple[Size, ...]
    width: Size
    distinct: Size
    storage: int = 0
    view: Hashable = None
    fresh: bool = False
    mutated: bool = False
    is_floating: bool = True
    is_complex: bool = False

    @property
    def numel(self) -> Size:
        """Elements, repeated ones included."""
        return product(*self.shape)

    @property
    def is_mask(self) -> bool:
        """True for bytes that are no numbers to compute with: booleans, which as an index select."""
        return not self.is_floating and self.width == 1

    @property
    def bytes(self) -> Size:
        """Distinct bytes: what one pass over the operand must move."""
        return self.distinct * self.width


@dataclass(frozen=True, slots=True)
class Operation:
    """One dispatched call: its name, its tensors in schema order and its arguments by schema name.

    A tensor in `arguments` is the very operand listed in `inputs`; arguments left to their default may be
    absent.
    """

    name: str
    overload: str = "default"
    inputs: tuple[Operand, ...] = ()
    outputs: tuple[Operand, ...] = ()
    arguments: Mapping[str, object] = field(default_factory=dict)

    @property
    def output(self) -> Operand:
        """The first tensor that comes out; for an operation in place, the tensor it wrote."""
        return self.outputs[0]

    def tensor(self, name: str) -> Operand:
        """The tensor given for an argument that every call has."""
        value = self.arguments.get(name)
        if not isinstance(value, Operand):
            raise TypeError(f"{self.name}.{self.overload}: argument {name!r} is {value!r}, not a tensor")
        return value

    def optional(self, name: str) -> Operand | None:
        """The tensor given for an argument, or None where the call has none."""
        value = self.arguments.get(name)
        return value if isinstance(value, Operand) else None

    def tensors(self, name: str) -> tuple[Operand, ...]:
        """The tensors of a list argument, without the absent ones."""
        value = self.arguments.get(name)
        items = value if isinstance(value, (list, tuple)) else ()
        return tuple(item for item in items if isinstance(item, Operand))

    def places(self, name: str) -> tuple[Operand | None, ...]:
        """The entries of a list argument, an absent tensor kept as None (x[:, index] gives [None, index])."""
        value = self.arguments.get(name)
        items = value if isinstance(value, (list, tuple)) else ()
        return tuple(item if isinstance(item, Operand) else None for item in items)

    def sizes(self, name: str) -> tuple[Size, ...]:
        """The sizes of a list argument; of an absent one, none."""
        value = self.arguments.get(name)
        return tuple(value) if isinstance(value, (list, tuple)) else ()

    def integer(self, name: str, default: int) -> int:
        """An argument that is never a size of the problem: a dimension, a mode."""
        value = self.arguments.get(name)
        return value if isinstance(value, int) else default

    def flag(self, name: str) -> bool:
        """A switch; absent means off."""
        return self.arguments.get(name) is True

    def vanishes(self, name: str) -> bool:
        """True where a numeric factor is literally zero, so that what it multiplies is not even read."""
        value = self.arguments.get(name)
        return isinstance(value, (int, float)) and value == 0

    def size(self, name: str, default: Size) -> Size:
        """A size given as one number; absent (None) means the default."""
        value = self.arguments.get(name)
        return default if value is None else value  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Work:
    """What a rule answers; bytes left None are the distinct inputs read once and the outputs written once."""

    flops: Size = 0
    pointwise_ops: Size = 0
    reads: Size | None = None
    writes: Size | None = None
