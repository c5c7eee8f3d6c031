"""Random numbers: one per number drawn."""

from collections.abc import Callable

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


def test_drawing_in_place_overwrites(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """normal_ writes and does not read; bernoulli_ reads a tensor of probabilities."""

    def normal(n: Size) -> Operation:
        x = tensor(n, mutated=True)
        return operation("aten.normal_", x, self=x)

    def bernoulli(n: Size) -> Operation:
        x = tensor(n, mutated=True)
        return operation("aten.bernoulli_", x, self=x, p=tensor(n))

    assert tally(normal, n=6) == Cost(0, 6, 0, 24)
    assert tally(bernoulli, n=6) == Cost(0, 6, 24, 24)


def test_drawing_a_new_tensor(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """rand_like does not read what it is like; bernoulli reads its probabilities."""
    assert tally(lambda: operation("aten.rand_like", (6,), self=tensor(6))) == Cost(0, 6, 0, 24)
    assert tally(lambda: operation("aten.bernoulli", (6,), self=tensor(6))) == Cost(0, 6, 24, 24)


def test_sampling_sums_its_weights(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """20 weights, 2 draws."""

    def build(n: Size) -> Operation:
        return operation("aten.multinomial", (2,), self=tensor(n))

    assert tally(build, n=20).pointwise_ops == 22


def test_dropout_in_training(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Draw, mask, scale."""
    assert tally(lambda: operation("aten.native_dropout", (6,), (6,), input=tensor(6))).pointwise_ops == 18


def test_rrelu_in_eval_leaves_the_noise_alone(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """It is a leaky relu: one per element, in training two."""

    def build(training: bool) -> Operation:
        noise = tensor(6, mutated=True)
        return operation("aten.rrelu_with_noise", (6,), self=tensor(6), noise=noise, training=training)

    assert tally(lambda: build(False)) == Cost(0, 6, 24, 24)
    assert tally(lambda: build(True)) == Cost(0, 12, 24, 48)
