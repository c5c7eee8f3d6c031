"""What forward() makes without naming a device stays the host's, however large, whatever its sizes are."""

from __future__ import annotations

import math
import resource
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured, run_symbolically
from forwardbook.analyzers.symbolic.shadows import LIMIT
from forwardbook.formula import Expr
from forwardbook.profiling.proof import prove

ROWS, WIDTH = Expr.symbol("rows"), Expr.symbol("width")
ACTIVATION = Expr.symbol("a_dtype_bytes")


class Table(nn.Module):
    """Rows chosen by distances that are computed where nobody said."""

    def forward(self, x: Tensor) -> Tensor:
        positions = torch.arange(x.shape[0]).cpu()
        distances = (positions[:, None] - positions[None, :]).abs().cpu()
        distances[0, 1:] = x.shape[0] - 1
        return x[distances[0] * 1]


class Moved(nn.Module):
    """Positions that are computed where nobody said, and then brought to the device."""

    def forward(self, x: Tensor) -> Tensor:
        positions = torch.arange(x.shape[0]) * 2
        if positions.device != x.device:
            positions = positions.to(x.device)
        return x + positions[:, None].to(x.dtype)


class Large(nn.Module):
    """A table of as many distances as the square of the rows, of which one is used."""

    def forward(self, x: Tensor) -> Tensor:
        positions = torch.arange(x.shape[0] * 64)
        table = positions[:, None] - positions[None, :]
        return x[table[0, : x.shape[0]].abs()]


@pytest.fixture
def proved(recipe_from: Callable[..., Recipe]) -> Callable[[type[nn.Module], int], Pattern]:
    """The pattern of a module over some rows, held against three measured runs."""

    def make(kind: type[nn.Module], rows: int) -> Pattern:
        recipe = recipe_from(
            kind, lambda n: kind(), lambda n, maker: (maker.floats((n.rows, n.width)),), rows=rows, width=8
        )
        run = run_symbolically(recipe)
        (pattern,) = patterns(run, recipe.calls_as)
        hints = {name: note.hint for name, note in run.notes.items()}
        (proof,) = prove(recipe, [pattern], hints, torch.float32, seed=1)
        assert proof.exact, [*proof.differences, proof.reason]
        return pattern

    return make


def test_arithmetic_of_the_host_costs_nothing(proved: Callable[[type[nn.Module], int], Pattern]) -> None:
    """Only the gather runs on the device: it reads rows and indices, and writes rows."""
    totals = proved(Table, 6).summary.totals

    assert totals.pointwise_ops == 0
    assert totals.writes == ROWS * WIDTH * ACTIVATION
    assert totals.reads == ROWS * WIDTH * ACTIVATION + 8 * ROWS


def test_bringing_to_the_device_is_a_copy(proved: Callable[[type[nn.Module], int], Pattern]) -> None:
    """The host's positions are copied and cast, then added; that they were doubled before costs nothing."""
    totals = proved(Moved, 6).summary.totals

    assert totals.pointwise_ops == ROWS * WIDTH
    assert totals.writes == ROWS * (8 + ACTIVATION + WIDTH * ACTIVATION)


def test_a_table_too_large_to_make_is_not_made(proved: Callable[[type[nn.Module], int], Pattern]) -> None:
    """Squares of some ten thousand positions would take gigabytes; nothing needs their values."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    totals = proved(Large, 200).summary.totals
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert totals.pointwise_ops == 0
    assert grown < 200 * 1024  # kilobytes: (200 * 64)**2 numbers of 8 bytes take 1.3 million


class Swapping(nn.Module):
    """Builds a layer within forward(), and gives it the weights that it has."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        other = nn.Linear(self.width, self.width)
        other.weight, other.bias = self.linear.weight, self.linear.bias
        out: Tensor = other(x)
        return out


def test_weights_that_forward_makes_are_the_hosts(recipe_from: Callable[..., Recipe]) -> None:
    """What fills the new weights, made without naming a device, is no work of the device."""
    recipe = recipe_from(
        Swapping,
        lambda n: Swapping(n.width),
        lambda n, maker: (maker.floats((n.batch_size, n.width)),),
        **{"batch_size": 3, "width": 5},
    )
    before = vars(nn.Parameter)["__new__"]

    names = {one.name for one in run_symbolically(recipe).trace.operations}

    assert "aten.addmm" in names
    assert not {name for name in names if "uniform" in name}
    assert before is vars(nn.Parameter)["__new__"]


def test_weights_that_forward_makes_are_the_hosts_however_large(
    recipe_from: Callable[..., Recipe],
) -> None:
    """A measured run counts the same where the new weights are too large to be made."""
    recipe = recipe_from(
        Swapping,
        lambda n: Swapping(n.width),
        lambda n, maker: (maker.floats((n.batch_size, n.width)),),
        **{"batch_size": 3, "width": 5},
    )
    widths = Widths(4, 4, 4)

    for width in (5, math.isqrt(LIMIT) + 1):
        sizes = {"batch_size": 3, "width": width}
        trace, _ = run_measured(recipe, sizes, torch.float32, widths)
        assert {"aten.addmm"} == {one.name for one in trace.operations if one.cost.flops or one.cost.writes}


class Fetched(nn.Module):
    """What the device made, brought to the host and added to there."""

    def forward(self, x: Tensor) -> Tensor:
        return (x * 2).cpu() + 1


class FetchedWider(nn.Module):
    """The same by the name of the device, and in another type."""

    def forward(self, x: Tensor) -> Tensor:
        return (x * 2).to("cpu", torch.float64) + 1


@pytest.mark.parametrize(("kind", "element"), [(Fetched, ACTIVATION), (FetchedWider, Expr.of(8))])
def test_what_the_host_gets_is_a_copy_and_costs_no_more(
    kind: type[nn.Module], element: Expr, proved: Callable[[type[nn.Module], int], Pattern]
) -> None:
    """The product reads and writes once, the copy once more; the host's own sum is nobody's work."""
    totals = proved(kind, 6).summary.totals

    assert totals.pointwise_ops == ROWS * WIDTH
    assert totals.reads == 2 * ROWS * WIDTH * ACTIVATION
    assert totals.writes == ROWS * WIDTH * ACTIVATION + ROWS * WIDTH * element
