"""Fourier transforms: a stated lower bound."""

from collections.abc import Callable

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


def test_the_longer_side_counts(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """A real transform of 16 gives 9 complex numbers, its inverse takes them."""

    def forward(b: Size, n: Size) -> Operation:
        return operation("aten._fft_r2c", tensor(b, n // 2 + 1, width=8, fresh=True), self=tensor(b, n))

    def backward(b: Size, n: Size) -> Operation:
        return operation("aten._fft_c2r", (b, n), self=tensor(b, n // 2 + 1, width=8))

    assert tally(forward, b=2, n=16) == Cost(0, 32, 128, 144)
    assert tally(backward, b=2, n=16) == Cost(0, 32, 144, 128)


def test_a_complex_transform_counts_elements(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """No flops: it is no matrix product."""

    def build(n: Size) -> Operation:
        return operation("aten._fft_c2c", tensor(n, width=8, fresh=True), self=tensor(n, width=8))

    assert tally(build, n=16) == Cost(0, 16, 128, 128)
