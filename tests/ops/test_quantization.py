"""Quantization: to the grid and back."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


@pytest.mark.parametrize(
    ("name", "each"),
    [("quantize_per_tensor", 4), ("dequantize", 2), ("fake_quantize_per_tensor_affine_cachemask", 6)],
)
def test_steps_per_element(tally: Tally, operation: MakeOp, tensor: Make, name: str, each: int) -> None:
    """Divide, round, add, clamp; subtract, multiply; both."""

    def build(n: Size) -> Operation:
        return operation(f"aten.{name}", (n,), self=tensor(n))

    assert tally(build, n=6) == Cost(0, each * 6, 24, 24)


def test_a_grid_is_chosen_from_two_extrema(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Two comparisons per element."""
    assert tally(lambda: operation("aten._choose_qparams_per_tensor", self=tensor(6))) == Cost(0, 12, 24, 0)
