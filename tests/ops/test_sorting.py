"""Ordering: a stated convention, one per element."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


@pytest.mark.parametrize("name", ["sort", "topk", "kthvalue", "median", "_unique2"])
def test_ordering_counts_its_input(tally: Tally, operation: MakeOp, tensor: Make, name: str) -> None:
    """The router's topk over 8 experts: 24 inputs, 6 outputs with 6 indices."""

    def build(t: Size, e: Size, k: Size) -> Operation:
        indices = tensor(t, k, width=8, fresh=True)
        return operation(f"aten.{name}", (t, k), indices, self=tensor(t, e))

    assert tally(build, t=3, e=8, k=2) == Cost(0, 24, 96, 6 * 12)


@pytest.mark.parametrize("name", ["searchsorted", "bucketize", "isin"])
def test_a_search_is_one_per_output(tally: Tally, operation: MakeOp, tensor: Make, name: str) -> None:
    """However long the sequence."""
    op = operation(f"aten.{name}", (6,), sorted_sequence=tensor(99), self=tensor(6))
    assert tally(lambda: op).pointwise_ops == 6


def test_bins_are_added_to(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """bincount and histc count each input."""
    assert tally(lambda: operation("aten.histc", (4,), self=tensor(9))).pointwise_ops == 9
