"""Gives meta tensors the shape functions in C++ that CPU and GPU kernels share, where torch has both.

`import torch` puts its decompositions in Python over them, which symbolic sizes need. Those are found by the
Python dispatcher all the same, under which symbolic runs go (`values`); an operation on plain sizes costs a
fiftieth without them, and is derived from code that no symbolic run used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch

_OURS: list[torch.library.Library] = []  # they last as long as the object does
_BEFORE = "_meta_lib_dont_use_me_use_register_meta"


@cache
def native_shapes() -> bool:
    """Whether those in C++ are used from here on: not where torch does not say what it put over them."""
    import torch._meta_registrations as registered
    from torch._decomp import global_decomposition_table as table

    before = getattr(registered, _BEFORE, None)
    said = getattr(before, "_op_impls", None)
    if before is None or not said:
        return False
    functions: dict[torch._ops.OpOverload, Callable[..., object]] = {}
    for kind in ("meta", "post_autograd", "pre_autograd"):  # the order in which torch takes them
        for operation, function in table[kind].items():
            if isinstance(operation, torch._ops.OpOverload):
                functions.setdefault(operation, function)
    covered = {one: f for one, f in functions.items() if _entry(one) in said}
    before._destroy()
    ours = torch.library.Library("aten", "IMPL", "Meta")  # noqa: TOR901 - kept below
    for operation, function in covered.items():
        if not _is_native(operation):
            ours.impl(operation, function)
    _OURS.append(ours)
    return True


def _entry(operation: torch._ops.OpOverload) -> str:
    return f"{operation.name().replace('::', '/', 1)}/Meta"


def _is_native(operation: torch._ops.OpOverload) -> bool:
    """Whether torch has a shape function in C++ of its own."""
    keys = ("Meta", "CompositeExplicitAutogradNonFunctional")
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(operation.name(), key) for key in keys)
