"""Reductions and running totals: counted per input element, one for each pass that does arithmetic."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Work
from forwardbook.analyzers.ops.registry import aten, in_place, rule


@rule(
    *aten(
        "sum nansum mean nanmean prod amax amin argmax argmin any all _is_all_true _is_any_true "
        "trace hash_tensor"
    ),
    reason="1 per input element: an addition, product or comparison; the one division per output of "
    "a mean is left out",
)
def reduction(op: Operation) -> Work:
    return Work(pointwise_ops=op.inputs[0].numel)


@rule(
    *aten("max min"),
    reason="of two tensors 1 per output element (a comparison); of one tensor 1 per input element",
)
def extremum(op: Operation) -> Work:
    elementwise = op.optional("other") is not None
    return Work(pointwise_ops=op.output.numel if elementwise else op.inputs[0].numel)


@rule(
    *aten("aminmax _aminmax"),
    reason="2 per input element: one comparison for the minimum, one for the maximum",
)
def extrema(op: Operation) -> Work:
    return Work(pointwise_ops=2 * op.inputs[0].numel)


@rule("aten.count_nonzero", reason="2 per input element: compare with zero, add")
def count_nonzero(op: Operation) -> Work:
    return Work(pointwise_ops=2 * op.inputs[0].numel)


@rule(
    *aten("norm linalg_vector_norm linalg__powsum native_norm frobenius_norm"),
    reason="2 per input element: power (or absolute value), add (or compare); the one root per "
    "output is left out",
)
def norm(op: Operation) -> Work:
    return Work(pointwise_ops=2 * op.inputs[0].numel)


@rule("aten.dist", reason="3 per element: subtract, power, add")
def distance(op: Operation) -> Work:
    return Work(pointwise_ops=3 * op.inputs[0].numel)


@rule(
    *aten("var std var_mean std_mean"),
    reason="4 per input element: mean (add), then subtract, square, add; what happens once per "
    "output is left out",
)
def variance(op: Operation) -> Work:
    return Work(pointwise_ops=4 * op.inputs[0].numel)


@rule(
    *aten("logsumexp special_logsumexp"),
    reason="4 per input element: maximum, subtract, exponential, sum; the one logarithm per output "
    "is left out",
)
def logsumexp(op: Operation) -> Work:
    return Work(pointwise_ops=4 * op.inputs[0].numel)


@rule(
    *in_place("cumsum cumprod"),
    *aten("cummax cummin _cummax_helper _cummin_helper"),
    reason="1 per input element: one addition, product or comparison with what came before (a "
    "sequential scan; parallel scans do more)",
)
def scan(op: Operation) -> Work:
    return Work(pointwise_ops=op.inputs[0].numel)


@rule(
    *aten("logcumsumexp _logcumsumexp"),
    reason="4 per input element: maximum, subtract, exponential, add",
)
def logarithmic_scan(op: Operation) -> Work:
    return Work(pointwise_ops=4 * op.inputs[0].numel)


@rule(
    *aten("segment_reduce"),
    reason="1 per element of the data: each is added to, or compared with, its segment",
)
def segments(op: Operation) -> Work:
    return Work(pointwise_ops=op.tensor("data").numel)
