"""Reductions: per input element, by pass."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


@pytest.mark.parametrize(
    ("name", "each"),
    [
        ("sum", 1), ("mean", 1), ("prod", 1), ("amax", 1), ("argmax", 1), ("any", 1), ("all", 1),
        ("linalg_vector_norm", 2), ("count_nonzero", 2), ("aminmax", 2), ("dist", 3),
        ("var", 4), ("std", 4), ("logsumexp", 4),
    ],
)  # fmt: skip
def test_per_input_element(tally: Tally, operation: MakeOp, tensor: Make, name: str, each: int) -> None:
    """21 inputs reduce to 3 outputs at `each` per input."""

    def build(m: Size, n: Size) -> Operation:
        return operation(f"aten.{name}", (m,), self=tensor(m, n))

    assert tally(build, m=3, n=7) == Cost(0, each * 21, 84, 12)


def test_the_maximum_of_two_is_per_output(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """max(x, y) broadcasts; max(x, dim) reduces."""

    def two(m: Size, n: Size) -> Operation:
        return operation("aten.max", (m, n), overload="other", self=tensor(n), other=tensor(m, n))

    def one(m: Size, n: Size) -> Operation:
        return operation("aten.max", (m,), (m,), overload="dim", self=tensor(m, n), dim=1)

    assert [tally(b, m=3, n=7).pointwise_ops for b in (two, one)] == [21, 21]


@pytest.mark.parametrize(
    ("name", "each"), [("cumsum", 1), ("cumprod", 1), ("cummax", 1), ("logcumsumexp", 4)]
)
def test_scans_are_sequential(tally: Tally, operation: MakeOp, tensor: Make, name: str, each: int) -> None:
    """A running total takes one step per element."""

    def build(m: Size, n: Size) -> Operation:
        return operation(f"aten.{name}", (m, n), self=tensor(m, n), dim=1)

    assert tally(build, m=3, n=7) == Cost(0, each * 21, 84, 84)


def test_segments_add_their_data(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Each element belongs to one segment."""

    def build(n: Size, s: Size) -> Operation:
        return operation("aten.segment_reduce", (s,), data=tensor(n), lengths=tensor(s))

    assert tally(build, n=9, s=2).pointwise_ops == 9
