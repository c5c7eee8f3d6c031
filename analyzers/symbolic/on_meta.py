"""One operation on meta tensors: by its symbolic kernel where it has one, else at the numbers of this run.

And the same on the values that they carry.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import torch
from torch import Tensor
from torch._dispatch.python import enable_python_dispatcher
from torch.nn.parameter import is_lazy

from forwardbook.analyzers.symbolic.kernel_layouts import on_kernels
from forwardbook.analyzers.symbolic.ledger import hint_of
from forwardbook.analyzers.symbolic.shadows import leaves_in, mapped, shadow, tensors_in
from forwardbook.analyzers.symbolic.views import VIEWS, strided

# The same views without autograd's bookkeeping; only the twin has a symbolic kernel.
_SYMBOLIC_TWIN = {
    torch.ops.aten.unsafe_split.Tensor: torch.ops.aten.split.Tensor,
    torch.ops.aten.unsafe_split_with_sizes.default: torch.ops.aten.split_with_sizes.default,
}
# How torch says that a kernel takes plain integers only.
_SPECIALISED = ("SymInt", "symbolic", "dispatch_on_subclass")


def _cut(tensor: Tensor, dims: tuple[object, ...], kwargs: dict[str, object]) -> tuple[Tensor, ...]:
    """A tensor cut along a symbolic side, which becomes a number; none where the side is one already.

    torch would divide the side by that number first, and ask about every remainder.
    """
    dim = dims[0] if dims else kwargs.get("dim", 0)
    assert isinstance(dim, int)
    count = tensor.shape[dim] if tensor.dim() else 0
    if not isinstance(count, torch.SymInt):
        return ()
    sizes, strides, start = list(tensor.shape), list(tensor.stride()), tensor.storage_offset()
    del sizes[dim]
    step = strides.pop(dim)
    return tuple(tensor.as_strided(sizes, strides, start + i * step) for i in range(int(count)))


def run_on_meta(func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """`func` on meta; without a symbolic kernel it is run at this run's numbers, which is written down."""
    leaves = leaves_in((args, kwargs))
    if any(isinstance(leaf, Tensor) and is_lazy(leaf) for leaf in leaves):
        return func(*args, **kwargs)
    func = _SYMBOLIC_TWIN.get(func, func)
    if func is torch.ops.aten.unbind.int and (pieces := _cut(tensors_in(args)[0], args[1:], kwargs)):
        return pieces
    if func is torch.ops.aten.resize_as_.default:  # takes the sizes of a tensor as numbers; resize_ symbols
        resized, like = tensors_in(args)
        func, args = torch.ops.aten.resize_.default, (resized, list(like.shape))
    try:
        with enable_python_dispatcher():
            out = on_kernels(func, args, kwargs)
            return strided(tensors_in(args)[0], cast("Tensor", out)) if func in VIEWS else out
    except (RuntimeError, TypeError) as problem:
        symbolic = [leaf for leaf in leaves if isinstance(leaf, torch.SymInt | torch.SymFloat)]
        if not symbolic or not any(text in str(problem) for text in _SPECIALISED):
            raise
    try:
        return on_kernels(func, args, kwargs)
    except (RuntimeError, TypeError) as problem:
        if not any(text in str(problem) for text in _SPECIALISED):
            raise
    for size in symbolic:
        size.node.evaluate()
    args, kwargs = mapped(hint_of, (args, kwargs))
    return on_kernels(func, args, kwargs)


def run_on_values(func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """`func` on the CPU, on the values that tensors carry and the numbers of this run."""
    real_args, real_kwargs = mapped(_value_of, (args, kwargs))
    if real_kwargs.get("device") is not None:
        real_kwargs = {**real_kwargs, "device": torch.device("cpu")}
    with _floats_as_usual():
        return func(*real_args, **real_kwargs)


def _value_of(leaf: object) -> object:
    return shadow(leaf) if isinstance(leaf, Tensor) else hint_of(leaf)


@contextmanager
def _floats_as_usual() -> Iterator[None]:
    """Inside, floats made of whole numbers are wide: a model in bfloat16 runs where float32 is the default.

    A length over a stride would be rounded to eight bits otherwise, and padded to another length.
    """
    before = torch.get_default_dtype()
    if before.itemsize >= torch.float32.itemsize:
        yield
        return
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
