"""Movement: bytes without arithmetic."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


@pytest.mark.parametrize("name", ["clone", "_to_copy", "flip", "roll", "tril", "repeat_interleave"])
def test_a_copy_reads_and_writes_once(tally: Tally, operation: MakeOp, tensor: Make, name: str) -> None:
    """No arithmetic."""

    def build(m: Size, n: Size) -> Operation:
        return operation(f"aten.{name}", (m, n), self=tensor(m, n))

    assert tally(build, m=3, n=5) == Cost(0, 0, 60, 60)


def test_cat_reads_all_parts(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Appending one position to a cache of 7 moves all 8."""

    def build(k: Size, d: Size) -> Operation:
        return operation("aten.cat", (k + 1, d), tensors=[tensor(k, d), tensor(1, d)], dim=0)

    assert tally(build, k=7, d=4) == Cost(0, 0, 128, 128)


def test_copy_into_does_not_read_what_it_overwrites(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """An expanded source is read once, at its own width."""

    def build(m: Size, n: Size) -> Operation:
        target = tensor(m, n, mutated=True)
        source = Operand((m, n), 2, n, storage=-1, view="row")
        return operation("aten.copy_", target, self=target, src=source)

    assert tally(build, m=3, n=5) == Cost(0, 0, 10, 60)


def test_fill_writes_only(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """zero_, and fill_ with a number."""

    def build(m: Size) -> Operation:
        target = tensor(m, mutated=True)
        return operation("aten.fill_", target, self=target, value=0)

    assert tally(build, m=6) == Cost(0, 0, 0, 24)


@pytest.mark.parametrize("name", ["arange", "zeros", "full", "zeros_like", "new_ones"])
def test_factories_read_nothing(tally: Tally, operation: MakeOp, tensor: Make, name: str) -> None:
    """Also where they copy a shape."""

    def build(m: Size) -> Operation:
        return operation(f"aten.{name}", (m,), self=tensor(m))

    assert tally(build, m=6) == Cost(0, 0, 0, 24)


@pytest.mark.parametrize("name", ["empty", "empty_like", "new_empty"])
def test_empty_touches_nothing(tally: Tally, operation: MakeOp, tensor: Make, name: str) -> None:
    """Memory set aside is not written."""
    assert tally(lambda: operation(f"aten.{name}", (6,), self=tensor(6))) == Cost.zero()


def test_views_in_place_move_nothing(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """t_ changes strides only, though its schema says that it writes."""
    x = tensor(3, 5, mutated=True)
    assert tally(lambda: operation("aten.t_", x, self=x)) == Cost.zero()


def test_item_reads_one_element(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """And writes none."""
    assert tally(lambda: operation("aten._local_scalar_dense", self=tensor())) == Cost(0, 0, 4, 0)


def test_folding_adds(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """col2im adds each of its inputs to a place of the output; im2col only copies."""

    def fold(n: Size, h: Size) -> Operation:
        return operation("aten.col2im", (1, 2, h, h), self=tensor(1, 8, n))

    def unfold(n: Size, h: Size) -> Operation:
        return operation("aten.im2col", (1, 8, n), self=tensor(1, 2, h, h))

    assert [tally(build, n=9, h=4).pointwise_ops for build in (fold, unfold)] == [72, 0]


def test_questions_are_free(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Asking for a shape moves nothing; an assertion reads its input."""
    assert tally(lambda: operation("aten.sym_size", self=tensor(6))) == Cost.zero()
    assert tally(lambda: operation("aten._assert_async", self=tensor())) == Cost(0, 0, 4, 0)
