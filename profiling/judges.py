"""Second opinions that share no rule with us: torch's flop counter, its CPU allocator, the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import torch
from torch.utils.flop_counter import flop_registry

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.ops import rules
from forwardbook.profiling.allocated import peak_of_call
from forwardbook.profiling.counted import Counted, count
from forwardbook.schema import Judge

COUNTER = "torch.utils.flop_counter"
ALLOCATOR = "torch.profiler memory, CPU"
PARAMETERS = "parameters of the module"

# The files of rules whose operations may have flops; of these torch's counter knows what its own table names.
CONTRACTING = ("attention.py", "convolution.py", "grouped.py", "linalg.py", "matmul.py", "recurrent.py")
ELSEWHERE = ("aten.affine_grid_generator", "torch_nn._linear_cross_entropy_batch_chunked")
# One operation with us, which torch takes apart into products that it counts.
DECOMPOSED = ("forwardbook.sdpa", "forwardbook.recurrent")
# The same on meta, where torch has no fast path.
DECOMPOSED_ON_META = {"aten._native_multi_head_attention", "aten._transformer_encoder_layer_fwd"}

# Kernels that allocate more on the CPU than what they return: the profiler's names for them, and why.
# What such a kernel allocates and releases itself is its workspace: devices differ in it, no peak holds it.
_BEFORE_REDUCTION = "the loss of every element is a tensor of its own before they are reduced"
_OF_OTHERS = "it consists of other operations"
WORKSPACES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "forwardbook.sdpa": (("aten::scaled_dot_product_attention",), "log of the sums, a buffer a thread"),
    "forwardbook.recurrent": (("aten::lstm", "aten::gru", "aten::rnn_"), "it is unrolled over time"),
    "forwardbook.interpolate": (("aten::upsample_", "aten::_upsample_"), "tables of weights and places"),
    "aten.convolution": (("aten::convolution",), "oneDNN reorders weights and inputs into its own layout"),
    "aten.native_layer_norm": (("aten::native_layer_norm",), "a strided input is copied"),
    "aten.rrelu_with_noise": (("aten::rrelu_with_noise",), "the mean slope is made in tensors"),
    "aten._native_multi_head_attention": (("aten::_native_multi_head_attention",), _OF_OTHERS),
    "aten._transformer_encoder_layer_fwd": (("aten::_transformer_encoder_layer_fwd",), _OF_OTHERS),
    "aten.im2col": (("aten::im2col",), "its output is made as large as the input, then resized"),
    "aten.col2im": (("aten::col2im",), "its output is made as large as the input, then resized"),
    "aten.native_batch_norm": (("aten::native_batch_norm",), "a factor and a term of each channel"),
    "aten.huber_loss": (("aten::huber_loss",), _BEFORE_REDUCTION),
    "aten.binary_cross_entropy_with_logits": (("aten::binary_cross_entropy_with_logits",), _BEFORE_REDUCTION),
}
# Operations whose results are other tensors on the CPU: here the allocator has no opinion.
_NOT_SHRUNK = "its result keeps the storage of the losses before they were reduced"
OTHER_RESULTS: Mapping[str, str] = {
    "forwardbook.grouped_mm": "the CPU loops over the groups",
    "aten._embedding_bag": "the CPU leaves out or adds auxiliary outputs that CUDA does not",
    "aten.mse_loss": _NOT_SHRUNK,
    "aten.smooth_l1_loss": _NOT_SHRUNK,
    "aten.soft_margin_loss": _NOT_SHRUNK,
    "aten.binary_cross_entropy": _NOT_SHRUNK,
}
# Classes that the CPU runs by another kernel than every other device.
OTHER_KERNELS: Mapping[str, str] = {
    "torch.nn.modules.pooling.MaxPool1d": "without gradients the CPU has a kernel that keeps no indices",
}
LONGEST = 20_000_000_000  # flops of a whole run above which the CPU takes more than a second or two
NUMBERS = 16  # a Python number met by a tensor becomes one of 8 bytes, and again one of its dtype, 8 at most


@cache
def uncounted() -> frozenset[str]:
    """Operations that may have flops and that torch's counter does not know."""
    ours = {name for record in rules() if record.source in CONTRACTING for name in record.names}
    known = {str(packet) for packet in flop_registry} | set(DECOMPOSED)
    return frozenset((ours | set(ELSEWHERE)) - known)


def ask(
    recipe: Recipe,
    sizes: Mapping[str, int],
    dtype: torch.dtype,
    path: str,
    occurrence: int,
    measured: Mapping[str, int],
    operations: Iterable[str],
    of_data: Sequence[str] = (),
) -> list[Judge]:
    """What each judge says of one call: `measured` are our quantities, `operations` ours in the call.

    A run with weights has sizes `of_data` of its own, so that nobody can hold it against ours.
    A judge without an opinion was asked 0 times, and its remark says why.
    """
    names = frozenset(operations)
    try:
        counted = count(recipe, sizes, dtype, path, occurrence)
    except Exception as error:  # noqa: BLE001 - analysed code may raise anything without our fused operations
        reason = _reason(error)
        flops, weights = _silent(COUNTER, "flops", reason), _silent(PARAMETERS, "weights", reason)
        refused = ""
    else:
        flops, weights = _of_flops(counted, measured, names), _of_weights(counted, measured)
        refused = f"the run takes {counted.run_flops:,} flops" if counted.run_flops > LONGEST else ""
    refused = refused or (f"data decides {', '.join(of_data)} there" if of_data else "")
    refused = refused or _other_results(recipe, names)
    if refused:
        return [flops, weights, _silent(ALLOCATOR, "peak", refused)]
    kernels = tuple(event for name in sorted(names & WORKSPACES.keys()) for event in WORKSPACES[name][0])
    try:
        peak = peak_of_call(recipe, sizes, dtype, path, occurrence, kernels)
    except Exception as error:  # noqa: BLE001 - analysed code may raise anything on the CPU
        return [flops, weights, _silent(ALLOCATOR, "peak", _reason(error))]
    return [flops, weights, _verdict(ALLOCATOR, "peak", measured["peak"], peak, NUMBERS)]


def _of_flops(counted: Counted, measured: Mapping[str, int], names: frozenset[str]) -> Judge:
    holes = sorted(names & uncounted() - DECOMPOSED_ON_META)
    if holes:
        return _silent(COUNTER, "flops", f"it does not count {', '.join(holes)}")
    return _verdict(COUNTER, "flops", measured["flops"], counted.flops)


def _of_weights(counted: Counted, measured: Mapping[str, int]) -> Judge:
    if counted.untouched:
        return _silent(PARAMETERS, "weights", f"the call does not touch {', '.join(counted.untouched[:3])}")
    return _verdict(PARAMETERS, "weights", measured["weights"], counted.weights)


def _other_results(recipe: Recipe, names: frozenset[str]) -> str:
    """Why the CPU's results are other tensors than those of other devices; empty where they are not."""
    reasons = [f"{name}: {OTHER_RESULTS[name]}" for name in sorted(names & OTHER_RESULTS.keys())]
    return reasons[0] if reasons else OTHER_KERNELS.get(recipe.calls_as, "")


def _verdict(name: str, quantity: str, ours: int, theirs: int, more: int = 0) -> Judge:
    """Agreement where they say what we say, or up to `more` above it; the remark shows any difference."""
    agreed = ours <= theirs <= ours + more
    remark = "" if ours == theirs else f"{theirs} against our {ours}"
    if agreed and remark:
        remark += ", which numbers in operations explain"
    return Judge(name=name, quantity=quantity, agreed=int(agreed), asked=1, remark=remark)


def _silent(name: str, quantity: str, remark: str) -> Judge:
    return Judge(name=name, quantity=quantity, agreed=0, asked=0, remark=remark)


def _reason(error: Exception) -> str:
    first = str(error).splitlines()
    return f"it could not run the call: {type(error).__name__}: {first[0] if first else ''}"
