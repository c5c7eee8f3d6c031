"""One operation on meta tensors: by its symbolic kernel where it has one, else at the numbers of this run."""

from __future__ import annotations

import torch
from torch import Tensor
from torch._dispatch.python import enable_python_dispatcher
from torch.nn.parameter import is_lazy

from forwardbook.analyzers.symbolic.ledger import hint_of
from forwardbook.analyzers.symbolic.shadows import leaves_in, mapped, tensors_in

# The same views without autograd's bookkeeping; only the twin has a symbolic kernel.
_SYMBOLIC_TWIN = {
    torch.ops.aten.unsafe_split.Tensor: torch.ops.aten.split.Tensor,
    torch.ops.aten.unsafe_split_with_sizes.default: torch.ops.aten.split_with_sizes.default,
}
# How torch says that a kernel takes plain integers only.
_SPECIALISED = ("SymInt", "symbolic", "dispatch_on_subclass")


def run_on_meta(func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """`func` on meta; without a symbolic kernel it is run at this run's numbers, which is written down."""
    leaves = leaves_in((args, kwargs))
    if any(isinstance(leaf, Tensor) and is_lazy(leaf) for leaf in leaves):
        return func(*args, **kwargs)
    func = _SYMBOLIC_TWIN.get(func, func)
    if func is torch.ops.aten.resize_as_.default:  # takes the sizes of a tensor as numbers; resize_ symbols
        resized, like = tensors_in(args)
        func, args = torch.ops.aten.resize_.default, (resized, list(like.shape))
    try:
        with enable_python_dispatcher():
            return func(*args, **kwargs)
    except (RuntimeError, TypeError) as problem:
        symbolic = [leaf for leaf in leaves if isinstance(leaf, torch.SymInt | torch.SymFloat)]
        if not symbolic or not any(text in str(problem) for text in _SPECIALISED):
            raise
    try:
        return func(*args, **kwargs)
    except (RuntimeError, TypeError) as problem:
        if not any(text in str(problem) for text in _SPECIALISED):
            raise
    for size in symbolic:
        size.node.evaluate()
    args, kwargs = mapped(hint_of, (args, kwargs))
    return func(*args, **kwargs)
