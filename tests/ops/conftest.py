"""Builds operations by hand or from real calls, and holds every count against the rule run on symbols."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TypeAlias

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from forwardbook.analyzers.ops import Operand, Operation, Size, cost_of
from forwardbook.cost import Cost
from forwardbook.formula import Expr

Build: TypeAlias = Callable[..., Operation]
_views = count()


def make_tensor(
    *shape: Size, width: Size = 4, mutated: bool = False, floating: bool = True, fresh: bool = False
) -> Operand:
    """A contiguous tensor that shares nothing with any other; 4 bytes wide as float32."""
    distinct: Size = 1
    for size in shape:
        distinct = distinct * size
    number = next(_views)
    return Operand(shape, width, distinct, number, number, fresh, mutated, floating)


def make_operation(
    name: str, *outputs: Operand | tuple[Size, ...], overload: str = "default", **arguments: object
) -> Operation:
    """An operation of given arguments; an output given as a shape is born in it."""
    inputs = [leaf for leaf in tree_leaves(list(arguments.values())) if isinstance(leaf, Operand)]
    outs = tuple(o if isinstance(o, Operand) else make_tensor(*o, fresh=True) for o in outputs)
    return Operation(name, overload, tuple(inputs), outs, arguments)


def make_index(*shape: Size) -> Operand:
    """An int64 tensor, 8 bytes wide."""
    return make_tensor(*shape, width=8, floating=False)


@pytest.fixture
def tensor() -> Callable[..., Operand]:
    """Makes an operand."""
    return make_tensor


@pytest.fixture
def index() -> Callable[..., Operand]:
    """Makes an index operand."""
    return make_index


@pytest.fixture
def operation() -> Callable[..., Operation]:
    """Makes an operation."""
    return make_operation


@pytest.fixture
def tally() -> Callable[..., Cost]:
    """The cost at integers, of an operation built from sizes, once symbols have given the same."""

    def run(build: Build, **sizes: int) -> Cost:
        cost = cost_of(build(**sizes))
        symbolic = cost_of(build(**{name: Expr.symbol(name) for name in sizes}))
        for quantity in ("flops", "pointwise_ops", "reads", "writes"):
            formula = Expr.of(getattr(symbolic, quantity))
            assert formula.evaluate(sizes) == getattr(cost, quantity), (quantity, formula.text())
        return cost

    return run


def describe(
    tensor: torch.Tensor, known: dict[int, int], mutated: bool = False, fresh: bool = False
) -> Operand:
    """The operand of a real tensor."""
    storage = known.setdefault(tensor.untyped_storage()._cdata, len(known))
    view = (storage, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
    distinct = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        distinct *= size if stride else min(size, 1)
    floating = tensor.is_floating_point() or tensor.is_complex()
    return Operand(
        tuple(tensor.shape), tensor.element_size(), distinct, storage, view, fresh, mutated, floating
    )


def translate(
    func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object], out: object
) -> Operation:
    """The operation of a real call and its result."""
    known: dict[int, int] = {}
    inputs: list[Operand] = []
    arguments: dict[str, object] = {}
    for place, spec in enumerate(func._schema.arguments):
        value = args[place] if place < len(args) else kwargs.get(spec.name, spec.default_value)
        written = spec.alias_info is not None and spec.alias_info.is_write

        def convert(item: object, written: bool = written) -> object:
            if isinstance(item, torch.Tensor):
                inputs.append(describe(item, known, mutated=written))
                return inputs[-1]
            return [convert(x) for x in item] if isinstance(item, (list, tuple)) else item

        arguments[spec.name] = convert(value)
    before = set(known)
    outputs = [
        describe(t, known, fresh=t.untyped_storage()._cdata not in before)
        for t in tree_leaves(out)
        if isinstance(t, torch.Tensor)
    ]
    name = func._schema.name.replace("::", ".")
    return Operation(name, func._overloadname, tuple(inputs), tuple(outputs), arguments)


@pytest.fixture
def from_call() -> Callable[..., Operation]:
    """Makes the operation of a real call."""
    return translate


class Listening(TorchDispatchMode):
    """Notes every operation dispatched."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self._alive: list[object] = []

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        out = func(*args, **(kwargs or {}))
        self._alive.append((args, out))  # an address of a dead storage would be given out again
        self.operations.append(translate(func, args, kwargs or {}, out))
        return out


@pytest.fixture
def observe() -> Callable[..., list[Operation]]:
    """Calls a module without gradients and gives back the operations it dispatched."""

    def run(module: torch.nn.Module, *inputs: object) -> list[Operation]:
        with torch.no_grad(), Listening() as heard:
            module(*inputs)
        return heard.operations

    return run
