"""Softmax and norms: passes over the input, counted by writing the formula out."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


@pytest.mark.parametrize(
    ("name", "each"),
    [("_softmax", 5), ("_log_softmax", 5), ("_safe_softmax", 8), ("_masked_softmax", 6)],
)
def test_softmax_steps(tally: Tally, operation: MakeOp, tensor: Make, name: str, each: int) -> None:
    """softmax is max, subtract, exp, sum, divide; the others add what their name says."""

    def build(m: Size, n: Size) -> Operation:
        return operation(f"aten.{name}", (m, n), self=tensor(m, n), dim=-1)

    assert tally(build, m=3, n=7) == Cost(0, each * 21, 84, 84)


def test_layer_norm_with_and_without_affine(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """mean 1, variance 3, standardize 2, weight 1, bias 1; mean and deviation are outputs too."""

    def affine(m: Size, n: Size) -> Operation:
        weights = {"weight": tensor(n), "bias": tensor(n)}
        return operation("aten.native_layer_norm", (m, n), (m, 1), (m, 1), input=tensor(m, n), **weights)

    def plain(m: Size, n: Size) -> Operation:
        return operation("aten.native_layer_norm", (m, n), (m, 1), (m, 1), input=tensor(m, n))

    assert tally(affine, m=3, n=7) == Cost(0, 8 * 21, 4 * (21 + 14), 4 * (21 + 6))
    assert tally(plain, m=3, n=7).pointwise_ops == 6 * 21


def test_group_norm_is_a_layer_norm_of_groups(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """The same steps per element."""

    def build(b: Size, c: Size, h: Size) -> Operation:
        weights = {"weight": tensor(c), "bias": tensor(c)}
        return operation(
            "aten.native_group_norm", (b, c, h), (b, 2), (b, 2), input=tensor(b, c, h), **weights
        )

    assert tally(build, b=2, c=4, h=5).pointwise_ops == 8 * 40


def test_rms_norm(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """square, add, multiply by the reciprocal root, weight."""

    def build(m: Size, n: Size) -> Operation:
        return operation("aten._fused_rms_norm", (m, n), (m, 1), input=tensor(m, n), weight=tensor(n))

    assert tally(build, m=3, n=7).pointwise_ops == 4 * 21


def batch_norm(operation: MakeOp, tensor: Make, training: bool, saved: int) -> Callable[..., Operation]:
    """native_batch_norm on a device that returns `saved` statistics per channel."""

    def build(b: Size, c: Size, h: Size) -> Operation:
        names = ("weight", "bias", "running_mean", "running_var")
        parts = {"input": tensor(b, c, h), **{name: tensor(c) for name in names}, "training": training}
        return operation("aten.native_batch_norm", (b, c, h), (saved * c,), (saved * c,), **parts)

    return build


def test_batch_norm_in_eval_is_an_affine_map(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """4 per element; what meta returns beside the output and the CPU does not is no part of the cost."""
    meta = tally(batch_norm(operation, tensor, training=False, saved=1), b=2, c=4, h=5)
    cpu = tally(batch_norm(operation, tensor, training=False, saved=0), b=2, c=4, h=5)
    assert meta == cpu == Cost(0, 4 * 40, 4 * (40 + 16), 4 * 40)


def test_batch_norm_with_its_own_statistics(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """As instance norm runs: statistics of the input cost 4 more."""
    build = batch_norm(operation, tensor, training=True, saved=1)
    assert tally(build, b=2, c=4, h=5) == Cost(0, 8 * 40, 4 * (40 + 16), 4 * (40 + 8))


def test_the_named_variants_of_batch_norm(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Without training 4 per element, with update 8."""
    names = {
        "_native_batch_norm_legit_no_training": 4,
        "_batch_norm_no_update": 4,
        "_batch_norm_with_update": 8,
    }
    for name, each in names.items():
        parts = {"input": tensor(2, 4, 5), "weight": tensor(4), "bias": tensor(4)}
        assert (
            tally(lambda n=name, p=parts: operation(f"aten.{n}", (2, 4, 5), **p)).pointwise_ops == each * 40
        )


def test_weight_norm_and_renorm(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Three per element each: square, add, multiply."""

    def weight_norm(o: Size, i: Size) -> Operation:
        return operation("aten._weight_norm_interface", (o, i), (o, 1), v=tensor(o, i), g=tensor(o, 1))

    def renorm(o: Size, i: Size) -> Operation:
        return operation("aten.renorm", (o, i), self=tensor(o, i))

    assert [tally(b, o=3, i=7).pointwise_ops for b in (weight_norm, renorm)] == [63, 63]
