"""Keeps one kernel one operation on every device: attention, grouped matmul, recurrences, resampling.

Without this the meta device decomposes attention into ten operations, the CPU takes a flash kernel, and a
recurrent layer is unrolled over time on one and fused on the other; the costs of one module would disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.library import custom_op
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from forwardbook.analyzers.symbolic.attended import attended
from forwardbook.analyzers.symbolic.attention_shapes import check_attention
from forwardbook.analyzers.symbolic.composites import call
from forwardbook.analyzers.symbolic.fast_path import FAST_PATH
from forwardbook.analyzers.symbolic.host import HOST
from forwardbook.analyzers.symbolic.ledger import hint_of
from forwardbook.analyzers.symbolic.number_types import ITSELF
from forwardbook.analyzers.symbolic.numbers import of_sizes
from forwardbook.analyzers.symbolic.of_weights import choices_of, note_routing
from forwardbook.analyzers.symbolic.origins import become_numbers
from forwardbook.analyzers.symbolic.picked import PICKED
from forwardbook.analyzers.symbolic.recurrent import RECURRENT
from forwardbook.analyzers.symbolic.resizing import padded, resized, scalar
from forwardbook.analyzers.symbolic.shadows import shadow, to_meta
from forwardbook.analyzers.symbolic.shapes_of_values import UnknownValue
from forwardbook.analyzers.symbolic.sizes_written import as_nested, hold, sizes_in, written_out
from forwardbook.analyzers.symbolic.standins import ON_EVERY_DEVICE, STAND_INS
from forwardbook.analyzers.symbolic.unwatched import OPERATORS, inside

_attention, _grouped = F.scaled_dot_product_attention, F.grouped_mm


@custom_op("forwardbook::sdpa", mutates_args=())
def sdpa(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Tensor:
    """Attention of query (..., Hq, Sq, D), key (..., Hk, Sk, D), value (..., Hk, Sk, Dv): (..., Hq, Sq, Dv).

    In memory the output lies as the query, as the flash kernels of CUDA and of the CPU and cuDNN write it;
    where values have another width it is (B, Sq, Hq, Dv), as CUDA's kernels write it.
    """
    out = _attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    if query.dim() != 4 or query.shape[-1] == value.shape[-1]:
        return out
    return out.transpose(1, 2).contiguous().transpose(1, 2)


@sdpa.register_fake
def _(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Tensor:
    check_attention(query, key, value, attn_mask, enable_gqa)
    return attended(query, value)


@custom_op("forwardbook::grouped_mm", mutates_args=())
def grouped_mm(mat_a: Tensor, mat_b: Tensor, offs: Tensor | None, bias: Tensor | None) -> Tensor:
    """Rows of mat_a (T, K) times their group's matrix of mat_b (E, K, N): (T, N); batched without offs."""
    if offs is None:
        return torch.bmm(mat_a, mat_b)
    out = mat_a.new_zeros((mat_a.shape[0], mat_b.shape[-1]))
    start = 0
    for expert, stop in enumerate(offs.tolist()):
        out[start:stop] = mat_a[start:stop] @ mat_b[expert]
        start = stop
    return out if bias is None else out + bias


@grouped_mm.register_fake
def _(mat_a: Tensor, mat_b: Tensor, offs: Tensor | None, bias: Tensor | None) -> Tensor:
    return mat_a.new_empty((*mat_a.shape[:-1], mat_b.shape[-1]))


def _call_sdpa(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    scale = None if scale is None else float(cast("float", hint_of(scale)))
    flags = (float(dropout_p), bool(is_causal), scale, bool(enable_gqa))
    out: Tensor = sdpa(query, key, value, attn_mask, *flags)
    return out


def _call_grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    out: Tensor = grouped_mm(mat_a, mat_b, offs, bias)
    return out


_FUSED: dict[object, Callable[..., object]] = {
    F.scaled_dot_product_attention: _call_sdpa,
    torch._grouped_mm: _call_grouped_mm,
    **RECURRENT,
}
_DROPOUTS = {torch.dropout, torch.feature_dropout, torch.alpha_dropout, torch.feature_alpha_dropout}
_READING, _WRITING = {torch.Tensor.tolist, torch.Tensor.numpy}, {torch.tensor, torch.as_tensor}
_HEEDED = {*_DROPOUTS, *_READING, *_WRITING, torch.Tensor.__format__, torch.div}
_CHECKS = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


class FusedOperations(TorchFunctionMode):
    """While active, fused kernels are one operation each, and kernels for plain integers accept symbols.

    torch's Python functions ask first whether a mode wants them, and their bodies then run without it; inside
    this mode they are told no, so that what they call is seen.
    """

    def __init__(self, symbolic: bool) -> None:
        super().__init__()
        self._table = {
            **_FUSED,
            **ON_EVERY_DEVICE,
            **FAST_PATH,
            **HOST,
            **PICKED,
            **(STAND_INS if symbolic else {}),
        }
        self._heeded = {*self._table, *_HEEDED}
        self._saved: list[tuple[object, str, object]] = []

    def __enter__(self) -> FusedOperations:
        for module in (F, torch.functional):
            for name in _CHECKS:
                if hasattr(module, name):
                    self._replace(module, name, lambda *tensors: False)
        self._replace(F, "interpolate", resized)
        self._replace(F, "grouped_mm", _call_grouped_mm)
        self._replace(F, "pad", padded)
        # torch reads the arguments before a mode is asked, and refuses a symbolic `is_causal`
        self._replace(F, "scaled_dot_product_attention", _call_sdpa)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)  # type: ignore[no-untyped-call]
        while self._saved:
            module, name, value = self._saved.pop()
            setattr(module, name, value)

    def _replace(self, module: object, name: str, value: object) -> None:
        self._saved.append((module, name, getattr(module, name)))
        setattr(module, name, value)

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        func = ITSELF.get(func, func)
        if func in OPERATORS:
            with inside(func):
                return call(func, args, kwargs)
        if func not in self._heeded:
            return call(func, args, kwargs)
        fused = self._table.get(func)
        if fused is not None:
            return fused(*args, **kwargs)
        if (counted := of_sizes(func, args, kwargs)) is not None:
            return counted(*args, **kwargs)
        if func in _DROPOUTS and not kwargs.get("train", args[2] if len(args) > 2 else True):
            return args[0] if args else kwargs["input"]
        if func in _READING and isinstance(args[0], Tensor):
            return _read(func, args[0])
        if func is torch.Tensor.__format__:
            return _formatted(*cast("tuple[Tensor, str]", args))
        if func in _WRITING and args and not isinstance(args[0], Tensor):
            return _written(func, args, kwargs)
        return call(func, args, kwargs)


def _read(func: Callable[..., object], tensor: Tensor) -> object:
    """The values of a tensor as Python or NumPy data; a meta tensor must carry them."""
    held = sizes_in(tensor)
    if held is not None and func is torch.Tensor.tolist:
        return as_nested(tensor, held)
    if tensor.device.type != "meta":
        return func(tensor)
    value = shadow(tensor)
    if value is None or choices_of(tensor) == 0:
        raise UnknownValue(f"{func.__name__}() of a tensor whose values come from weights or are made up")
    if note_routing([tensor]):
        become_numbers([tensor])
    return func(value)


def _formatted(tensor: Tensor, form: str) -> str:
    """The text of a tensor of one number whose value is known; on meta torch would say what it is made of."""
    one = tensor.dim() == 0 and tensor.device.type == "meta"
    held, value = (sizes_in(tensor), shadow(tensor)) if one else (None, None)
    if held is not None:
        return format(int(held[0]), form)
    return format(tensor if value is None else value.item(), form)


def _written(func: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """A tensor of what Python wrote out; one on meta carries that, and sizes among it stay sizes."""
    if any(isinstance(leaf, Tensor) for leaf in tree_leaves(args[0])):
        # torch asks such tensors for their number where no mode sees it
        args = (tree_map(scalar, args[0]), *args[1:])
    sizes = written_out(args[0])
    if sizes is not None:
        args = (tree_map(hint_of, args[0]), *args[1:])
    device = kwargs.get("device")
    if device is None or torch.device(device).type != "meta":  # type: ignore[call-overload]
        made = func(*args, **kwargs)
    else:
        made = to_meta(cast("Tensor", func(*args, **{**kwargs, "device": "cpu"})))
    return made if sizes is None else hold(cast("Tensor", made), sizes)
