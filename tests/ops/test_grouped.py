"""Grouped products against counts by hand."""

from collections.abc import Callable

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


def experts(operation: MakeOp, tensor: Make) -> Callable[..., Operation]:
    """T rows sorted by expert, E matrices."""

    def build(t: Size, e: Size, k: Size, n: Size) -> Operation:
        rows, matrices, ends = tensor(t, k), tensor(e, k, n), tensor(e, floating=False)
        return operation("forwardbook.grouped_mm", (t, n), mat_a=rows, mat_b=matrices, offs=ends, bias=None)

    return build


def test_every_row_meets_one_matrix(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """64 rows by 4 matrices of 64 x 32: the number a study expected of torch's counter, 262144."""
    cost = tally(experts(operation, tensor), t=64, e=4, k=64, n=32)
    assert cost == Cost(262144, 0, 4 * (64 * 64 + 4 + 4 * 64 * 32), 4 * 64 * 32)


def test_fewer_rows_than_matrices_read_only_theirs(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """2 rows reach 2 of 8 matrices, as in decoding."""
    assert tally(experts(operation, tensor), t=2, e=8, k=3, n=5).reads == 4 * (6 + 8 + 2 * 15)


def test_the_four_layouts_of_torch(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Groups in the rows, in a batch dimension, in the columns, in the inner dimension."""

    def make(left: tuple[Size, ...], right: tuple[Size, ...], out: tuple[Size, ...]) -> Operation:
        return operation("aten._grouped_mm", out, self=tensor(*left), mat2=tensor(*right))

    def rows(m: Size, k: Size, n: Size, e: Size) -> Operation:
        return make((m, k), (e, k, n), (m, n))

    def batch(m: Size, k: Size, n: Size, e: Size) -> Operation:
        return make((e, m, k), (e, k, n), (e, m, n))

    def columns(m: Size, k: Size, n: Size, e: Size) -> Operation:
        return make((e, m, k), (k, n), (m, n))

    def inner(m: Size, k: Size, n: Size, e: Size) -> Operation:
        return make((m, k), (k, n), (e, m, n))

    flops = [tally(build, m=6, k=3, n=5, e=2).flops for build in (rows, batch, columns, inner)]
    assert flops == [2 * 90, 2 * 2 * 90, 2 * 90, 2 * 90]


def test_a_bias_is_added_to_every_output(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """One addition per output element."""

    def build(t: Size, e: Size) -> Operation:
        parts = {"mat_a": tensor(t, 3), "mat_b": tensor(e, 3, 5), "bias": tensor(e, 5)}
        return operation("forwardbook.grouped_mm", (t, 5), **parts)

    assert tally(build, t=6, e=2).pointwise_ops == 30


def test_the_fallback_of_transformers(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """A custom operation that torch's counter does not see."""

    def build(t: Size, e: Size) -> Operation:
        parts = {"input": tensor(t, 3), "weight": tensor(e, 3, 5), "offs": tensor(e)}
        return operation("transformers.grouped_mm_fallback", (t, 5), **parts)

    assert tally(build, t=6, e=2).flops == 2 * 6 * 15
