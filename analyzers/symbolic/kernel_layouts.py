"""How kernels lay out their results where torch's shape functions on meta say otherwise.

Convolutions and batch norms write channels last where those of an input lie so, else in order: cuDNN and the
kernels of the CPU alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.windows import has_channels_last, laid_out_as

_aten = torch.ops.aten


def _convolved(out: object, args: tuple[object, ...]) -> Tensor:
    """A convolution's result: channels last where those of its input or of its weights are."""
    made, input, weight = cast("tuple[Tensor, ...]", (out, *args[:2]))
    return laid_out_as(input if has_channels_last(input) else weight, list(made.shape), made.dtype)


def _normalised(out: object, args: tuple[object, ...]) -> tuple[Tensor, ...]:
    """What a batch norm gives: its result laid out, what is saved beside it as it is."""
    made, *saved = cast("tuple[Tensor, ...]", out)
    return laid_out_as(cast("Tensor", args[0]), list(made.shape), made.dtype), *saved


LAYOUTS: Final[dict[torch._ops.OpOverload, Callable[[object, tuple[object, ...]], object]]] = {
    _aten.convolution.default: _convolved,
    **dict.fromkeys(
        (
            _aten.native_batch_norm.default,
            _aten._native_batch_norm_legit.default,
            _aten._native_batch_norm_legit.no_stats,
            _aten._native_batch_norm_legit_no_training.default,
            _aten._batch_norm_no_update.default,
            _aten.cudnn_batch_norm.default,
        ),
        _normalised,
    ),
}
"""What lays out the result of an operation on meta anew, of its arguments."""


def on_kernels(func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """The result of an operation on meta, laid out as the kernels do."""
    out = func(*args, **kwargs)
    lay_out = LAYOUTS.get(func)
    return out if lay_out is None else lay_out(out, args)
