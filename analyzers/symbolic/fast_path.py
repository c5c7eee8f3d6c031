"""torch's fast path of attention and of encoder layers: the operations that it dispatches in eval mode.

A module asks whether a mode or a subclass wants its tensors, and whether they are on a device that has the
kernels; under a mode, or on meta, it would go another way than it goes unwatched.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import torch
import torch.utils.backend_registration as backends
from torch import Tensor
from torch.nn import Parameter
from torch.nn.modules.transformer import TransformerEncoder

from forwardbook.analyzers.symbolic.standins import library
from forwardbook.saying import DATA

PADDED: Final = f"{DATA}mask of padding: its rows are computed, though torch packs those before it"

_ops = torch.ops.forwardbook_symbolic
_HEADS = "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias"
_ATTENTION = (
    f"Tensor query, Tensor key, Tensor value, SymInt embed_dim, SymInt num_head, {_HEADS}, "
    "Tensor? mask=None, bool need_weights=True, bool average_attn_weights=True, int? mask_type=None"
)
library.define(f"_native_multi_head_attention({_ATTENTION}) -> (Tensor, Tensor)")
library.define(f"_native_multi_head_attention.alone({_ATTENTION}) -> Tensor")
library.define(
    f"_transformer_encoder_layer_fwd(Tensor src, SymInt embed_dim, SymInt num_heads, {_HEADS}, "
    "bool use_gelu, bool norm_first, float eps, "
    "Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, "
    "Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, "
    "Tensor? mask=None, int? mask_type=None) -> Tensor"
)


def _attended(query: Tensor, *rest: object) -> Tensor:
    """What both give: a new tensor of the query's shape, whatever its strides.

    Raises:
        RuntimeError: the width of the query is not that of the weights; torch refuses it.
    """
    wide = next(one for one in rest if isinstance(one, Tensor) and one.dim() == 2).shape[-1]
    if query.shape[-1] != wide:
        raise RuntimeError(f"attention of width {wide} over a query of width {query.shape[-1]}")
    return query.new_empty(query.shape)


def _attended_with_weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor]:
    batch, rows = query.shape[:2]
    heads = () if average_attn_weights else (num_head,)
    return _attended(query, qkv_weight), query.new_empty((batch, *heads, rows, rows))


library.impl("_native_multi_head_attention", _attended_with_weights, "Meta")
library.impl("_native_multi_head_attention.alone", _attended, "Meta")
library.impl("_transformer_encoder_layer_fwd", _attended, "Meta")


def _call_attention(query: Tensor, *rest: object) -> tuple[Tensor, Tensor | None]:
    if not query.is_meta:
        return torch._native_multi_head_attention(query, *rest)  # type: ignore[arg-type]
    if len(rest) > 9 and not rest[9]:
        return _ops._native_multi_head_attention.alone(query, *rest), None
    return _ops._native_multi_head_attention(query, *rest)  # type: ignore[no-any-return]


def _call_encoder_layer(src: Tensor, *rest: object) -> Tensor:
    run = _ops if src.is_meta else torch
    return run._transformer_encoder_layer_fwd(src, *rest)  # type: ignore[no-any-return]


def _asked_of_padding(tensor: Tensor, mask: Tensor) -> bool:
    """That padding comes last: what `fast_path` does then needs no values."""
    return True


FAST_PATH: Final[dict[object, Callable[..., object]]] = {
    torch._native_multi_head_attention: _call_attention,
    torch._transformer_encoder_layer_fwd: _call_encoder_layer,
    torch._nested_tensor_from_mask_left_aligned: _asked_of_padding,
}
"""What stands for torch's functions, by them."""


def _is_overridden(tensors: Iterable[object]) -> bool:
    """Whether a subclass wants one of the tensors, modes apart."""
    return any(isinstance(one, Tensor) and type(one) not in (Tensor, Parameter) for one in tensors)


@contextmanager
def fast_path(assumed: Counter[str]) -> Iterator[None]:
    """Inside, modules take their fast path where they take it unwatched on a device.

    Given a mask of padding an encoder would pack its rows into nested tensors first, whose sizes are data:
    here it computes all rows, which is written into `assumed`.
    """
    asked, device = torch.overrides.has_torch_function, backends._privateuse1_backend_name

    def has_torch_function(args: Iterable[object]) -> bool:
        if sys._getframe(1).f_code is TransformerEncoder.forward.__code__:
            assumed[PADDED] += 1
            return True
        return _is_overridden(args)

    torch.overrides.has_torch_function = has_torch_function
    backends._privateuse1_backend_name = "meta"  # where torch looks for a device beside its own
    try:
        yield
    finally:
        torch.overrides.has_torch_function = asked
        backends._privateuse1_backend_name = device
