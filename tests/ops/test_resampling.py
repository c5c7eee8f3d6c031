"""Resampling: n neighbours weighted and added."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import NoRule, Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


MODES = {"nearest": 0, "linear": 3, "bilinear": 7, "trilinear": 15, "bicubic": 31}
NAMES = {
    "upsample_nearest2d": 0,
    "upsample_linear1d": 3,
    "upsample_bilinear2d": 7,
    "_upsample_bilinear2d_aa": 7,
    "upsample_trilinear3d": 15,
    "upsample_bicubic2d": 31,
}


@pytest.mark.parametrize(("mode", "each"), MODES.items())
def test_our_operation_counts_by_mode(
    tally: Tally, operation: MakeOp, tensor: Make, mode: str, each: int
) -> None:
    """n products and n - 1 sums for each output element."""

    def build(h: Size, o: Size) -> Operation:
        return operation("forwardbook.interpolate", (2, o, o), input=tensor(2, h, h), size=[o, o], mode=mode)

    assert tally(build, h=3, o=5) == Cost(0, each * 50, 72, 200)


@pytest.mark.parametrize(("name", "each"), NAMES.items())
def test_the_operations_of_torch_agree(
    tally: Tally, operation: MakeOp, tensor: Make, name: str, each: int
) -> None:
    """The same per output element under torch's names."""
    assert (
        tally(lambda: operation(f"aten.{name}", (2, 5, 5), self=tensor(2, 3, 3))).pointwise_ops == each * 50
    )


def test_area_is_adaptive_pooling(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """One per input element."""
    op = operation("forwardbook.interpolate", (2, 2, 2), input=tensor(2, 6, 6), size=[2, 2], mode="area")
    assert tally(lambda: op).pointwise_ops == 72


def test_an_unknown_mode_is_refused(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """The message lists the modes."""
    op = operation("forwardbook.interpolate", (1,), input=tensor(1), mode="cosine")
    with pytest.raises(NoRule, match="none of nearest"):
        tally(lambda: op)


def test_grid_sampling_places_and_blends(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Every output element blends 4 (8) neighbours; every coordinate is scaled and shifted."""

    def flat(c: Size, o: Size) -> Operation:
        data = {"input": tensor(1, c, 4, 4), "grid": tensor(1, o, o, 2), "interpolation_mode": 0}
        return operation("aten.grid_sampler_2d", (1, c, o, o), **data)

    def deep(c: Size, o: Size) -> Operation:
        data = {"input": tensor(1, c, 4, 4, 4), "grid": tensor(1, o, o, o, 3), "interpolation_mode": 0}
        return operation("aten.grid_sampler_3d", (1, c, o, o, o), **data)

    assert tally(flat, c=3, o=5).pointwise_ops == 7 * 75 + 2 * 50
    assert tally(deep, c=3, o=5).pointwise_ops == 15 * 375 + 2 * 375


def test_an_affine_grid_is_a_product(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Each of 2 coordinates sums 3 products."""

    def build(n: Size, h: Size) -> Operation:
        return operation("aten.affine_grid_generator", (n, h, h, 2), theta=tensor(n, 2, 3))

    assert tally(build, n=2, h=5).flops == 2 * 2 * 25 * 2 * 3
