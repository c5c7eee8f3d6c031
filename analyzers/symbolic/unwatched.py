"""Operators of torch that go another way where a dispatch mode watches: the way that they go without one.

Their C++ writes into a result that it has just made, except where `isTensorSubclassLike` says that somebody
may watch: so it does in every mode, and of all tensors on meta. Inside such an operator the operation that it
takes then is exchanged for the one that it takes otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import torch
import torch.nn.functional as F

_aten = torch.ops.aten
Exchanges = Mapping[torch._ops.OpOverload, torch._ops.OpOverload]

_LINEAR: Final[Exchanges] = {_aten.add.Tensor: _aten.add_.Tensor}  # the bias, where the input is strided
_QUANTILE: Final[Exchanges] = {_aten.lerp.Tensor: _aten.lerp_.Tensor}
_ISCLOSE: Final[Exchanges] = {_aten.bitwise_and.Tensor: _aten.bitwise_and_.Tensor}

OPERATORS: Final[Mapping[object, Exchanges]] = {
    F.linear: _LINEAR,
    _aten.linear.default: _LINEAR,
    **dict.fromkeys((torch.isclose, torch.Tensor.isclose, _aten.isclose.default), _ISCLOSE),
    **{
        operator: _QUANTILE
        for name in ("quantile", "nanquantile")
        for operator in (
            getattr(torch, name),
            getattr(torch.Tensor, name),
            getattr(_aten, name).default,
            getattr(_aten, name).scalar,
        )
    },
}
"""What is exchanged inside which operator, by torch's function and by the operator that it dispatches."""

_inside: ContextVar[Exchanges] = ContextVar("_inside", default={})  # noqa: B039 - never written to


@contextmanager
def inside(operator: Callable[..., object]) -> Iterator[None]:
    """While an operator runs; of those that are not among `OPERATORS` nothing is exchanged."""
    before = _inside.set(OPERATORS.get(operator, {}))
    try:
        yield
    finally:
        _inside.reset(before)


def unwatched(func: torch._ops.OpOverload) -> torch._ops.OpOverload:
    """The operation that runs in place of `func` where nobody watches."""
    return _inside.get().get(func, func)


def _gradients_alone(inference: bool) -> torch.set_grad_enabled:
    return torch.set_grad_enabled(not inference)


@contextmanager
def no_inference_mode() -> Iterator[None]:
    """Inside, inference mode only turns gradients off, as `no_grad` does: torch runs the same operations.

    In inference mode a dispatch mode sees operators whole, and of a view not that its weight wants gradients,
    by which `matmul` decides whether it copies.
    """
    before = torch._C._InferenceMode
    torch._C._InferenceMode = _gradients_alone  # type: ignore[misc, assignment]
    try:
        if torch.is_inference_mode_enabled():
            with before(False), torch.no_grad():
                yield
        else:
            yield
    finally:
        torch._C._InferenceMode = before  # type: ignore[misc]
