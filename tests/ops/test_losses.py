"""Losses: per element, and the sum."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


ELEMENTWISE = {
    "mse_loss": 2,
    "smooth_l1_loss": 5,
    "huber_loss": 5,
    "soft_margin_loss": 3,
    "binary_cross_entropy": 7,
    "binary_cross_entropy_with_logits": 4,
    "kl_div": 3,
}


@pytest.mark.parametrize(("name", "each"), ELEMENTWISE.items())
def test_the_sum_is_one_more(tally: Tally, operation: MakeOp, tensor: Make, name: str, each: int) -> None:
    """reduction=0 leaves the elements, the mean (torch's default, left out of the call) adds them."""

    def build(reduction: int | None, out: tuple[int, ...]) -> Operation:
        more = {} if reduction is None else {"reduction": reduction}
        return operation(f"aten.{name}", out, self=tensor(3, 5), target=tensor(3, 5), **more)

    assert tally(lambda: build(0, (3, 5))) == Cost(0, each * 15, 120, 60)
    assert tally(lambda: build(None, ())) == Cost(0, (each + 1) * 15, 120, 4)
    assert tally(lambda: build(2, ())).pointwise_ops == (each + 1) * 15


def test_nll_reads_one_probability_per_target(
    tally: Tally, operation: MakeOp, tensor: Make, index: Make
) -> None:
    """6 targets of 8 bytes, 6 probabilities, 6 class weights; writes the loss and the total weight."""

    def build(n: Size, c: Size) -> Operation:
        parts = {"self": tensor(n, c), "target": index(n), "weight": tensor(c), "reduction": 1}
        return operation("aten.nll_loss_forward", (), (), **parts)

    assert tally(build, n=6, c=1000) == Cost(0, 3 * 6, 6 * (8 + 4 + 4), 8)


def test_margins(tally: Tally, operation: MakeOp, tensor: Make, index: Make) -> None:
    """One comparison with the target per class; of several targets, one per pair of classes."""

    def multi(n: Size, c: Size) -> Operation:
        return operation("aten.multi_margin_loss", (), self=tensor(n, c), target=index(n))

    def label(n: Size, c: Size) -> Operation:
        return operation(
            "aten.multilabel_margin_loss_forward", (), (n, c), self=tensor(n, c), target=index(n, c)
        )

    assert [tally(b, n=6, c=5).pointwise_ops for b in (multi, label)] == [4 * 30, 4 * 150]


def test_ctc_counts_states_of_the_alignment(
    tally: Tally, operation: MakeOp, tensor: Make, index: Make
) -> None:
    """12 steps of 2 samples with 2 * 4 + 1 states each."""

    def build(b: Size, t: Size, s: Size) -> Operation:
        parts = {"log_probs": tensor(t, b, 20), "targets": index(b, s)}
        return operation("aten._ctc_loss", (b,), (b, t, 2 * s + 1), **parts)

    assert tally(build, b=2, t=12, s=4).pointwise_ops == 8 * 2 * 12 * 9


def test_linear_cross_entropy_is_a_product(
    tally: Tally, operation: MakeOp, tensor: Make, index: Make
) -> None:
    """N x C logits of F products; each gradient prepared is another product."""
    name = "torch_nn._linear_cross_entropy_batch_chunked"

    def build(n: Size, c: Size, f: Size, gradients: bool = False) -> Operation:
        parts = {
            "input": tensor(n, f),
            "linear_weight": tensor(c, f),
            "target": index(n),
            "linear_bias": tensor(c),
        }
        asked = {f"compute_{of}_grad": gradients for of in ("input", "linear_weight", "linear_bias")}
        return operation(name, (), **parts, **asked)

    cost = tally(build, n=6, c=5, f=3)
    assert (cost.flops, cost.pointwise_ops) == (2 * 30 * 3, 5 * 30)
    trained = tally(lambda: build(6, 5, 3, gradients=True))
    assert (trained.flops, trained.pointwise_ops) == (3 * 2 * 30 * 3, 6 * 30)
