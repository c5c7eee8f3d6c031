"""Pooling: window times outputs."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


@pytest.mark.parametrize("name", ["avg_pool2d", "max_pool2d_with_indices"])
def test_window_times_outputs(tally: Tally, operation: MakeOp, tensor: Make, name: str) -> None:
    """2 x 4 maps of 5 x 7 outputs, 3 x 2 windows."""

    def build(b: Size, c: Size, h: Size, w: Size) -> Operation:
        return operation(f"aten.{name}", (b, c, h, w), self=tensor(b, c, 3 * h, 2 * w), kernel_size=[3, 2])

    assert tally(build, b=2, c=4, h=5, w=7).pointwise_ops == 280 * 6


def test_one_size_counts_in_every_dimension(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """kernel_size=[3] of a three-dimensional pool is 27 positions; a symbolic kernel works too."""

    def build(h: Size, k: Size) -> Operation:
        return operation("aten.avg_pool3d", (1, h, h, h), self=tensor(1, h, h, h), kernel_size=[k])

    assert tally(build, h=4, k=3).pointwise_ops == 64 * 27


def test_adaptive_pools_tile_their_input(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """One per input element."""

    def build(h: Size, o: Size) -> Operation:
        return operation("aten._adaptive_avg_pool2d", (2, o, o), self=tensor(2, h, h))

    assert tally(build, h=8, o=3) == Cost(0, 128, 512, 72)


def test_unpooling_moves(tally: Tally, operation: MakeOp, tensor: Make, index: Make) -> None:
    """Input and indices are read, the output is written."""

    def build(h: Size) -> Operation:
        return operation("aten.max_unpool2d", (2 * h, 2 * h), self=tensor(h, h), indices=index(h, h))

    assert tally(build, h=3) == Cost(0, 0, 9 * 12, 144)
