"""Factorizations: multiply-accumulates counted by running the textbook loops."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import NoRule, Operand, Operation, Size, cost_of
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


def elimination(n: int) -> int:
    """The innermost loop of LU without pivoting."""
    return sum(1 for k in range(n) for _ in range(k + 1, n) for _ in range(k + 1, n))


def cholesky(n: int) -> int:
    """The innermost loop of the Cholesky factorization, row by row."""
    return sum(1 for i in range(n) for j in range(i + 1) for _ in range(j))


def substitution(n: int) -> int:
    """The innermost loop of a triangular solve of one right hand side."""
    return sum(1 for i in range(n) for _ in range(i))


def test_factorizations_count_their_loops(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """For 2 matrices of each size."""

    def lu(n: Size) -> Operation:
        return operation("aten.linalg_lu_factor_ex", (2, n, n), (2, n), (2,), A=tensor(2, n, n))

    def triangle(n: Size) -> Operation:
        return operation("aten.linalg_cholesky_ex", (2, n, n), (2,), self=tensor(2, n, n))

    for n in (1, 2, 3, 7):
        assert tally(lu, n=n).flops == 2 * 2 * elimination(n)
        assert tally(triangle, n=n).flops == 2 * 2 * cholesky(n)


def test_solves_count_their_loops(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """For 3 right hand sides."""

    def triangular(n: Size) -> Operation:
        return operation("aten.linalg_solve_triangular", (n, 3), self=tensor(n, n), B=tensor(n, 3))

    def solve(n: Size) -> Operation:
        return operation("aten._linalg_solve_ex", (n, 3), (n, n), (n,), (), A=tensor(n, n), B=tensor(n, 3))

    def again(n: Size) -> Operation:
        return operation("aten.linalg_lu_solve", (n, 3), LU=tensor(n, n), pivots=tensor(n), B=tensor(n, 3))

    def inverse(n: Size) -> Operation:
        return operation("aten.linalg_inv_ex", (n, n), (), A=tensor(n, n))

    for n in (1, 2, 5):
        one = 2 * substitution(n)
        assert tally(triangular, n=n).flops == 3 * one
        assert tally(again, n=n).flops == 2 * 3 * one
        assert tally(solve, n=n).flops == 2 * elimination(n) + 2 * 3 * one
        assert tally(inverse, n=n).flops == 2 * elimination(n) + 2 * n * one


def test_a_cholesky_solve_is_two_triangular_ones(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """With the factor and its transpose."""

    def build(n: Size) -> Operation:
        return operation("aten.cholesky_solve", (n, 3), self=tensor(n, 3), input2=tensor(n, n))

    assert tally(build, n=5).flops == 2 * 3 * 2 * substitution(5)


def test_householder_reflectors_are_two_products_each(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """4 reflectors on a 6 x 4 matrix."""

    def build(m: Size, n: Size, k: Size) -> Operation:
        return operation("aten.linalg_householder_product", (m, n), input=tensor(m, n), tau=tensor(k))

    assert tally(build, m=6, n=4, k=4).flops == 4 * (2 * 24 + 2 * 24)


@pytest.mark.parametrize("name", ["_linalg_svd", "_linalg_eigh", "linalg_matrix_exp"])
def test_iterations_that_depend_on_data_have_no_rule(operation: MakeOp, tensor: Make, name: str) -> None:
    """They are reported, not guessed."""
    with pytest.raises(NoRule, match=name):
        cost_of(operation(f"aten.{name}", (5, 5), A=tensor(5, 5)))
