"""How often a loop goes round that asks data is a size, as far as the loop goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.of_data import OutOfRange
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured, run_symbolically
from forwardbook.formula import parse
from forwardbook.pipeline.derivation.regimes import derive

N, H, A, W, R = "{tokens}", "{width}", "{a_dtype_bytes}", "{w_dtype_bytes}", "{round_count}"


class Settle(nn.Module):
    """Applies its layer until the largest value is small, but not more often than it may."""

    def __init__(self, width: int, most: int = 1 << 20) -> None:
        super().__init__()
        self.layer, self.out, self.most = nn.Linear(width, width), nn.Linear(width, 4 * width), most

    def forward(self, x: Tensor) -> Tensor:
        done = 0
        while x.abs().max() > 0.5 and done < self.most:
            x = self.layer(x)
            done += 1
        made: Tensor = self.out(x)
        return made


class Left(Settle):
    """The same, left in the middle."""

    def forward(self, x: Tensor) -> Tensor:
        while True:
            if not x.abs().max() > 0.5:
                break
            x = self.layer(x)
        made: Tensor = self.out(x)
        return made


@pytest.fixture
def made(recipe_from: Callable[..., Recipe]) -> Callable[..., Recipe]:
    """A recipe of one of the classes."""

    def make(kind: type[Settle], **told: int) -> Recipe:
        return recipe_from(
            kind,
            lambda n: kind(n.width, **told),
            lambda n, maker: (maker.floats((n.tokens, n.width)),),
            tokens=5,
            width=7,
        )

    return make


@pytest.mark.parametrize("kind", [Settle, Left])
def test_the_formula_is_that_of_any_number_of_rounds(made: Callable[..., Recipe], kind: type[Settle]) -> None:
    """The test runs once more than the layer; the layer's weights are read in one round or many."""
    [one] = derive(made(kind), torch.float32, [made(kind).calls_as], seed=0)
    summary = one.pattern.summary

    assert one.exact
    assert len({point.sizes["round_count"] for point in one.proof.points}) > 1
    assert summary.totals.flops == parse(f"2 * {N} * {H} * {H} * ({R} + 4)")
    asked = f"({R} + 1) * (2 * {N} * {H} + 1)"
    assert summary.totals.pointwise_ops == parse(f"{asked} + {R} * {N} * {H} + 4 * {N} * {H}")
    assert summary.weights == parse(f"5 * {H} * ({H} + 1) * {W}")


def test_the_size_says_which_loop_it_is_of(made: Callable[..., Recipe]) -> None:
    """Its meaning quotes the line, its source names it."""
    note = run_symbolically(made(Settle)).notes["round_count"]

    test = "while x.abs().max() > 0.5 and done < self.most:"
    assert f"how many rounds, which data decides: `{test}`" == note.meaning
    assert note.source.startswith("data, Settle.forward line ")


def test_a_measured_run_goes_as_many_rounds_as_it_is_told(made: Callable[..., Recipe]) -> None:
    """Three rounds and the layer after them; told nothing, one."""
    flops = {}
    for told in (0, 1, 3):
        sizes = {"tokens": 5, "width": 7, "round_count": told}
        trace, _ = run_measured(made(Settle), sizes, torch.float32, Widths(4, 4, 4))
        flops[told] = sum(int(str(one.cost.flops)) for one in trace.operations)

    assert {told: 2 * 5 * 7 * 7 * (told + 4) for told in flops} == flops
    trace, _ = run_measured(made(Settle), {"tokens": 5, "width": 7}, torch.float32, Widths(4, 4, 4))
    assert {"round_count": 1} == trace.data


def test_more_rounds_than_a_loop_goes_are_refused(made: Callable[..., Recipe]) -> None:
    """A loop that ends by itself after three says nothing of four."""
    sizes = {"tokens": 5, "width": 7, "round_count": 4}

    with pytest.raises(OutOfRange, match="ended by itself: it goes fewer rounds than were asked for"):
        run_measured(made(Settle, most=3), sizes, torch.float32, Widths(4, 4, 4))


def test_no_formula_is_said_of_more_rounds_than_there_are(made: Callable[..., Recipe]) -> None:
    """Where a loop ends by itself its formulas are proved at rounds that it goes."""
    recipe = made(Settle, most=5)
    [one] = derive(recipe, torch.float32, [recipe.calls_as], seed=0)

    assert one.exact
    assert all(point.sizes["round_count"] <= 5 for point in one.proof.points)
