"""Grouped matrix products: each row meets the matrix of its own group only, as experts do."""

from __future__ import annotations

from forwardbook.analyzers.ops.matmul import MAC
from forwardbook.analyzers.ops.operation import Operand, Operation, Work, smaller
from forwardbook.analyzers.ops.registry import aten, once, rule


def grouped(op: Operation, left: Operand, right: Operand) -> Work:
    """Rows [T, K] by [E, K, N]; a group without rows is not read, and T rows reach at most T groups."""
    pointwise = op.output.numel if op.optional("bias") is not None else 0
    flops = MAC * op.output.numel * left.shape[-1]
    if not (len(left.shape) == 2 and len(right.shape) == 3):
        return Work(flops=flops, pointwise_ops=pointwise)
    rows, groups = left.shape[0], right.shape[0]
    matrix = right.shape[1] * right.shape[2] * right.width
    others = once(*(x for x in op.inputs if x is not right))
    return Work(flops=flops, pointwise_ops=pointwise, reads=others + smaller(rows, groups) * matrix)


@rule(
    "forwardbook.grouped_mm",
    reason="2 * T * K * N: every one of T rows meets one K x N matrix whatever its group; reads the "
    "matrices of the groups that have rows, min(T, E) where rows are spread evenly; 1 "
    "pointwise per output element where there is a bias",
)
def grouped_product(op: Operation) -> Work:
    return grouped(op, op.tensor("mat_a"), op.tensor("mat_b"))


@rule("transformers.grouped_mm_fallback", reason="as forwardbook.grouped_mm: 2 * T * K * N")
def grouped_product_fallback(op: Operation) -> Work:
    return grouped(op, op.inputs[0], op.inputs[1])


@rule(
    *aten("_grouped_mm _scaled_grouped_mm _scaled_grouped_mm_v2"),
    reason="rows [T, K] by [E, K, N]: 2 * T * K * N, reading min(T, E) matrices; [E, M, K] by [E, K, "
    "N]: a batched product, 2 * E * M * K * N; [E, M, K] by [K, N] and [M, K] by [K, N], "
    "groups cut from N or K: 2 * M * K * N in all",
)
def aten_grouped_product(op: Operation) -> Work:
    left, right = op.inputs[0], op.inputs[1]
    if len(right.shape) == 2:
        # the groups partition N (left has a group dimension) or K (both are matrices), so that together they
        # are one product of [M, K] by [K, N]
        m, k, n = left.shape[-2], left.shape[-1], right.shape[-1]
        return Work(flops=MAC * m * k * n)
    return grouped(op, left, right)
