"""The table of elementwise operations: complete against torch's tags, one per result but for a few."""

from collections.abc import Callable

import pytest
import torch

from forwardbook.analyzers.ops import Operand, Operation, Size, has_rule
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


def pointwise_names() -> set[str]:
    """Every aten operation of which an overload is tagged pointwise."""
    found = set()
    for full in torch._C._dispatch_get_all_op_names():
        space, _, rest = full.partition("::")
        name, _, overload = rest.partition(".")
        packet = getattr(torch.ops.aten, name, None) if space == "aten" else None
        op = getattr(packet, overload or "default", None)
        if op is not None and torch.Tag.pointwise in op.tags:
            found.add(f"aten.{name}")
    return found


def test_every_operation_that_torch_tags_pointwise_has_a_rule() -> None:
    """Nothing is missing from the table."""
    names = pointwise_names()
    assert len(names) > 200
    assert {name for name in names if not has_rule(name)} == set()


@pytest.mark.parametrize("name", ["add", "gelu", "gt", "where", "sqrt", "bitwise_and", "silu", "erf", "tanh"])
def test_one_result_is_one_operation(tally: Tally, operation: MakeOp, tensor: Make, name: str) -> None:
    """15 results are 15 operations; activations are not dearer than additions."""

    def build(m: Size, n: Size) -> Operation:
        return operation(f"aten.{name}", (m, n), self=tensor(m, n))

    assert tally(build, m=3, n=5) == Cost(0, 15, 60, 60)


@pytest.mark.parametrize(
    ("name", "each"),
    [
        ("addcmul", 2),
        ("addcdiv", 2),
        ("xlogy", 2),
        ("glu", 2),
        ("ldexp", 2),
        ("lerp", 3),
        ("linalg_cross", 3),
        ("polar", 4),
    ],
)
def test_composites_count_their_steps(
    tally: Tally, operation: MakeOp, tensor: Make, name: str, each: int
) -> None:
    """What is two or more operations by name counts as many."""

    def build(m: Size, n: Size) -> Operation:
        return operation(f"aten.{name}", (m, n), self=tensor(m, n))

    assert tally(build, m=3, n=5).pointwise_ops == each * 15


def test_broadcasting_counts_outputs_and_reads_inputs(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """A row added to a matrix: 15 sums, 15 + 5 elements read."""

    def build(m: Size, n: Size) -> Operation:
        return operation("aten.add", (m, n), self=tensor(m, n), other=tensor(n))

    assert tally(build, m=3, n=5) == Cost(0, 15, 4 * 20, 60)


def test_a_comparison_writes_bytes_of_booleans(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """The output is one byte wide."""

    def build(m: Size) -> Operation:
        return operation("aten.eq", tensor(m, width=1, fresh=True), self=tensor(m), other=tensor(m))

    assert tally(build, m=6) == Cost(0, 6, 48, 6)


def test_equal_reads_both_and_writes_nothing(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Its answer is a Python bool."""

    def build(m: Size) -> Operation:
        return operation("aten.equal", self=tensor(m), other=tensor(m))

    assert tally(build, m=6) == Cost(0, 6, 48, 0)
