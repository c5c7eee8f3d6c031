"""Calls on meta tensors: what is kept from running by values or devices alone is made up."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map


class OnlyShapes(TorchDispatchMode):
    """Values that forward() reads of meta tensors are ones; those with values meet those without.

    `steps` counts the operations.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.steps = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        """Runs one operation."""
        self.steps += 1
        if func is torch.ops.aten._local_scalar_dense.default and args[0].is_meta:
            return args[0].dtype is torch.bool or 1
        if func is torch.ops.aten.repeat_interleave.Tensor and args[0].is_meta:
            return torch.empty_like(args[0])  # each once
        try:
            return func(*args, **(kwargs or {}))
        except RuntimeError:
            devices = {one.device for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)}
            if len(devices) == 1:
                raise
        return func(*tree_map(_shape, args), **tree_map(_shape, {**(kwargs or {})}))


def _shape(value: object) -> object:
    """A tensor without its values."""
    return value.to("meta") if isinstance(value, torch.Tensor) else value
