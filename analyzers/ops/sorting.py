"""Ordering and searching: one operation per element by convention, as comparisons depend on the data."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Work
from forwardbook.analyzers.ops.registry import aten, rule


@rule(
    *aten(
        "sort argsort msort topk kthvalue median nanmedian mode unique_dim unique_consecutive "
        "unique_dim_consecutive _unique _unique2 quantile nanquantile"
    ),
    reason="1 per input element by convention: the number of comparisons depends on the data and the "
    "algorithm (between n and n log n)",
)
def ordered(op: Operation) -> Work:
    return Work(pointwise_ops=op.inputs[0].numel)


@rule(
    *aten("searchsorted bucketize"),
    reason="1 per output element by convention: one search each (its steps are the logarithm of the "
    "sequence's length)",
)
def searched(op: Operation) -> Work:
    return Work(pointwise_ops=op.output.numel)


@rule(
    *aten("bincount histc _histogramdd_from_bin_cts"),
    reason="1 per input element: each is added to its bin",
)
def counted(op: Operation) -> Work:
    return Work(pointwise_ops=op.inputs[0].numel)


@rule("aten.isin", reason="1 per element by convention: one search of the test elements each")
def member(op: Operation) -> Work:
    return Work(pointwise_ops=op.output.numel)
