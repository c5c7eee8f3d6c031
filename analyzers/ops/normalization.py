"""Softmax and the norms: how many passes over the input each takes, counted per input element."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Size, Work
from forwardbook.analyzers.ops.registry import aten, rule

SOFTMAX = 5  # maximum, subtract, exponential, sum, divide
STATISTICS = 4  # mean (add), variance (subtract, square, add)
STANDARDIZE = 2  # subtract the mean, multiply by the reciprocal deviation


def affine(op: Operation) -> int:
    """1 for the multiplication by a weight, 1 for the addition of a bias, where they are given."""
    return sum(op.optional(name) is not None for name in ("weight", "bias"))


@rule(
    *aten("_softmax softmax"),
    reason="5 per input element: maximum, subtract, exponential, sum, divide",
)
def softmax(op: Operation) -> Work:
    return Work(pointwise_ops=SOFTMAX * op.inputs[0].numel)


@rule(
    *aten("_log_softmax log_softmax"),
    reason="5 per input element: maximum, subtract, exponential, sum, subtract the logarithm of the "
    "sum (one logarithm per row is left out)",
)
def log_softmax(op: Operation) -> Work:
    return Work(pointwise_ops=5 * op.inputs[0].numel)


@rule(
    "aten._safe_softmax",
    reason="8 per input element: softmax 5, then rows of minus infinity are found (compare, all) and "
    "set to zero (select)",
)
def safe_softmax(op: Operation) -> Work:
    return Work(pointwise_ops=(SOFTMAX + 3) * op.inputs[0].numel)


@rule("aten._masked_softmax", reason="6 per input element: select by the mask, then softmax 5")
def masked_softmax(op: Operation) -> Work:
    return Work(pointwise_ops=(1 + SOFTMAX) * op.inputs[0].numel)


@rule(
    *aten("native_layer_norm layer_norm native_group_norm group_norm"),
    reason="8 per input element: mean 1, variance 3 (subtract, square, add), standardize 2 "
    "(subtract, multiply), weight 1, bias 1; 6 without weight and bias; what happens once per "
    "row (root, division) is left out; the saved mean and deviation are written on every "
    "device; CUDA's group norm takes its input in order, so that one with channels last is copied "
    "before, while the CPU's writes channels last",
)
def layer_norm(op: Operation) -> Work:
    return Work(pointwise_ops=(STATISTICS + STANDARDIZE + affine(op)) * op.inputs[0].numel)


@rule(
    *aten("rms_norm _fused_rms_norm"),
    reason="4 per input element: square, add, multiply by the reciprocal root, multiply by the "
    "weight; 3 without weight",
)
def rms_norm(op: Operation) -> Work:
    return Work(pointwise_ops=(3 + affine(op)) * op.inputs[0].numel)


def batch_norm_work(op: Operation, training: bool) -> Work:
    """With running statistics only an affine map remains; statistics that some devices save do not count."""
    data = op.inputs[0].numel
    if training:
        return Work(pointwise_ops=(STATISTICS + STANDARDIZE + affine(op)) * data)
    writes: Size = op.output.bytes
    return Work(pointwise_ops=(STANDARDIZE + affine(op)) * data, writes=writes)


def kept_of_running(op: Operation) -> tuple[Size, ...]:
    """The output's storage; with running statistics none of those beside it, without all of them."""
    if op.flag("training"):
        return tuple(out.bytes for out in op.outputs)
    return (op.output.bytes, *(0 for _ in op.outputs[1:]))


@rule(
    *aten(
        "native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_functional "
        "cudnn_batch_norm miopen_batch_norm batch_norm"
    ),
    storages=kept_of_running,
    reason="4 per input element: subtract the running mean, multiply by the reciprocal deviation, "
    "weight 1, bias 1; with statistics of the batch itself (training, instance norm) 4 more, "
    "mean 1 and variance 3; without training only the first output counts as written and is kept: cuDNN, "
    "which CUDA takes where weight and bias are given and the input has 3 dimensions or more, and the CPU "
    "save empty statistics; CUDA's own kernel saves two numbers per channel",
)
def batch_norm(op: Operation) -> Work:
    return batch_norm_work(op, training=op.flag("training"))


@rule(
    *aten("_native_batch_norm_legit_no_training _batch_norm_no_update"),
    storages=kept_of_running,
    reason="4 per input element, as native_batch_norm with running statistics",
)
def batch_norm_running(op: Operation) -> Work:
    return batch_norm_work(op, training=False)


@rule(
    *aten("_batch_norm_with_update _batch_norm_with_update_functional"),
    reason="8 per input element, as native_batch_norm with statistics of the batch",
)
def batch_norm_updating(op: Operation) -> Work:
    return batch_norm_work(op, training=True)


@rule(
    *aten("_weight_norm_interface _weight_norm"),
    reason="3 per element of the direction: square, add, multiply by magnitude over norm (one root "
    "and division per row is left out)",
)
def weight_norm(op: Operation) -> Work:
    return Work(pointwise_ops=3 * op.tensor("v").numel)


@rule(
    "aten.renorm",
    "aten.renorm_",
    reason="3 per element: power, add, multiply by the factor of its row",
)
def renorm(op: Operation) -> Work:
    return Work(pointwise_ops=3 * op.inputs[0].numel)
