"""Factorizations and solves with a fixed number of multiply-accumulates; iterative ones have no rule."""

from __future__ import annotations

from forwardbook.analyzers.ops.matmul import MAC
from forwardbook.analyzers.ops.operation import Operand, Operation, Size, Work, product
from forwardbook.analyzers.ops.registry import aten, rule


def matrices(operand: Operand) -> Size:
    """How many matrices a batch holds."""
    return product(*operand.shape[:-2])


def elimination(n: Size) -> Size:
    """Multiply-accumulates of Gaussian elimination: step k updates an (n - k) x (n - k) block."""
    return n * (n - 1) * (2 * n - 1) // 6


def substitution(n: Size) -> Size:
    """Multiply-accumulates of one triangular solve for one right hand side: row k uses the k before it."""
    return n * (n - 1) // 2


@rule(
    *aten("linalg_lu_factor_ex _lu_with_info linalg_lu _linalg_det _linalg_slogdet"),
    reason="2 per multiply-accumulate of elimination: the sum of (n - k)^2 over n steps is n (n - 1) "
    "(2 n - 1) / 6; pointwise n (n - 1) / 2 divisions by the pivots",
)
def lu(op: Operation) -> Work:
    data = op.inputs[0]
    n = data.shape[-1]
    return Work(
        flops=MAC * matrices(data) * elimination(n),
        pointwise_ops=matrices(data) * substitution(n),
    )


@rule(
    "aten.linalg_cholesky_ex",
    reason="2 per multiply-accumulate: the sum of products under each entry of the triangle is n (n "
    "- 1) (n + 1) / 6; pointwise n (n - 1) / 2 divisions and n roots",
)
def cholesky(op: Operation) -> Work:
    data = op.inputs[0]
    n = data.shape[-1]
    return Work(
        flops=MAC * matrices(data) * (n * (n - 1) * (n + 1) // 6),
        pointwise_ops=matrices(data) * (substitution(n) + n),
    )


@rule(
    "aten.linalg_solve_triangular",
    reason="2 per multiply-accumulate: n (n - 1) / 2 per right hand side; pointwise one division per "
    "element of the result",
)
def solve_triangular(op: Operation) -> Work:
    n = op.inputs[0].shape[-1]
    # elements of the result / n right hand sides, each n (n - 1) / 2
    return Work(flops=op.output.numel * (n - 1), pointwise_ops=op.output.numel)


@rule(
    "aten._linalg_solve_ex",
    reason="LU, 2 * n (n - 1) (2 n - 1) / 6, and two triangular solves of n (n - 1) each per right "
    "hand side; pointwise the divisions of both",
)
def solve(op: Operation) -> Work:
    data = op.tensor("A")
    n = data.shape[-1]
    return Work(
        flops=MAC * matrices(data) * elimination(n) + 2 * op.output.numel * (n - 1),
        pointwise_ops=matrices(data) * substitution(n) + op.output.numel,
    )


@rule(
    "aten.linalg_lu_solve",
    reason="two triangular solves, n (n - 1) flops each per right hand side; pointwise one division "
    "per element of the result",
)
def lu_solve(op: Operation) -> Work:
    n = op.inputs[0].shape[-1]
    return Work(flops=2 * op.output.numel * (n - 1), pointwise_ops=op.output.numel)


@rule(
    *aten("_cholesky_solve_helper cholesky_solve"),
    reason="two triangular solves, n (n - 1) flops each per right hand side; pointwise one division "
    "per element of the result in each",
)
def cholesky_solve(op: Operation) -> Work:
    n = op.output.shape[-2]
    return Work(flops=2 * op.output.numel * (n - 1), pointwise_ops=2 * op.output.numel)


@rule(
    "aten.linalg_inv_ex",
    reason="LU and two triangular solves for n right hand sides, as _linalg_solve_ex with the identity",
)
def inverse(op: Operation) -> Work:
    data = op.inputs[0]
    n = data.shape[-1]
    return Work(
        flops=MAC * matrices(data) * elimination(n) + 2 * data.numel * (n - 1),
        pointwise_ops=matrices(data) * substitution(n) + data.numel,
    )


@rule(
    "aten.linalg_householder_product",
    reason="4 * m * n per reflector: one product of its vector with the m x n matrix and one rank-1 "
    "update, 2 per multiply-accumulate each, zeros included",
)
def householder_product(op: Operation) -> Work:
    data, reflectors = op.inputs[0], op.inputs[1]
    return Work(flops=2 * MAC * data.numel * reflectors.shape[-1])
