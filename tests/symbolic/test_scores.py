"""Attention of eager code is found as two products around a softmax, and its masks are counted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.symbolic.attention import Attention
from forwardbook.analyzers.symbolic.fused import FusedOperations
from forwardbook.analyzers.symbolic.recorder import Recorder, Widths
from forwardbook.analyzers.symbolic.shadows import to_meta
from forwardbook.analyzers.symbolic.values import Values

ROWS, WIDTH = 7, 4
LOW = torch.finfo(torch.float32).min
CAUSAL = torch.ones(ROWS, ROWS).tril().bool()
WINDOW = CAUSAL & ~CAUSAL.tril(-3)  # each row sees itself and two before it
Apply = Callable[[Tensor, Tensor], Tensor]


class Eager(nn.Module):
    """Scores, what is done to them with a mask, a softmax, values."""

    def __init__(self, apply: Apply) -> None:
        super().__init__()
        self.apply_mask = apply
        self.bias = nn.Parameter(torch.zeros(2, ROWS, ROWS, device="meta"))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        scores = self.apply_mask(torch.matmul(x, x.transpose(-1, -2)) * 0.5, mask)
        return torch.matmul(scores.softmax(-1)[..., :ROWS], x)


def seen(module: nn.Module, *inputs: Tensor) -> list[Attention | None]:
    """What the products of a call on meta say of attention."""
    recorder = Recorder(Widths(4, 4, 4), torch.float32, Values(symbolic=False))
    with torch.no_grad(), FusedOperations(symbolic=False), recorder.watching(module):
        module(*inputs)
    return [one.attention for one in recorder.trace.operations if one.name in ("aten.bmm", "aten.mm")]


def added(mask: Tensor) -> Tensor:
    """A mask of truths as what is added to scores."""
    return torch.zeros(mask.shape).masked_fill(~mask, LOW)


def capped(scores: Tensor, mask: Tensor) -> Tensor:
    """A soft cap, as Gemma 2 has."""
    return torch.tanh(scores / 50.0) * 50.0 + mask


def with_sink(scores: Tensor, mask: Tensor) -> Tensor:
    """A column that takes what nobody needs, as GPT-OSS has."""
    joined = torch.cat([scores + mask, scores.new_zeros((2, ROWS, 1))], dim=-1)
    return joined - joined.max(dim=-1, keepdim=True).values


@pytest.mark.parametrize("mask", [CAUSAL, WINDOW], ids=["causal", "window"])
@pytest.mark.parametrize(
    ("apply", "is_added"),
    [
        (torch.add, True),
        (capped, True),
        (with_sink, True),
        (lambda scores, mask: scores.masked_fill(~mask, LOW), False),
        (lambda scores, mask: torch.where(mask, scores, torch.full((), -1e9, device="meta")), False),
    ],
    ids=["added", "capped", "with a sink", "filled", "chosen"],
)
def test_both_products_multiply_the_pairs_that_a_mask_leaves(
    mask: Tensor, apply: Apply, is_added: bool
) -> None:
    given = to_meta(added(mask) if is_added else mask)
    found = seen(Eager(apply), torch.empty(2, ROWS, WIDTH, device="meta"), given)
    assert [one.pairs for one in found if one is not None] == [int(mask.sum())] * 2
    assert len(found) == 2


def test_a_bias_of_weights_masks_nothing_and_a_mask_added_to_it_does() -> None:
    x = torch.empty(2, ROWS, WIDTH, device="meta")
    biased = Eager(lambda scores, mask: scores)
    biased.apply_mask = lambda scores, mask: scores + biased.bias
    assert {one.pairs for one in seen(biased, x, to_meta(added(CAUSAL))) if one} == {ROWS * ROWS}
    biased.apply_mask = lambda scores, mask: scores + (biased.bias + mask)
    assert {one.pairs for one in seen(biased, x, to_meta(added(CAUSAL))) if one} == {int(CAUSAL.sum())}


def test_a_mask_at_places_that_weights_choose_is_not_known() -> None:
    def chosen(scores: Tensor, mask: Tensor) -> Tensor:
        places = scores.topk(2, dim=-1).indices
        return scores + torch.full_like(scores, LOW).scatter_(-1, places, 0.0)

    found = seen(Eager(chosen), torch.empty(2, ROWS, WIDTH, device="meta"), to_meta(CAUSAL))
    assert [one.pairs for one in found if one is not None] == [None, None]


def test_a_mask_that_is_cut_out_of_what_was_filled_is_known() -> None:
    def cut(scores: Tensor, mask: Tensor) -> Tensor:
        return scores + torch.full((ROWS, ROWS), LOW, device="meta").masked_fill_(mask, 0.0)

    found = seen(Eager(cut), torch.empty(2, ROWS, WIDTH, device="meta"), to_meta(CAUSAL))
    assert [one.pairs for one in found if one is not None] == [int(CAUSAL.sum())] * 2


def test_two_layers_without_a_softmax_between_them_are_no_attention() -> None:
    layers = nn.Sequential(nn.Linear(4, 8, bias=False), nn.ReLU(), nn.Linear(8, 4, bias=False)).to("meta")
    assert seen(layers, torch.empty(3, 4, device="meta")) == [None, None]
