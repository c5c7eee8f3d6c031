"""A size that Python counted with comes back as a polynomial, or not at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.loops import Made, Numbers, counted, without_loops
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_symbolically
from forwardbook.formula import Expr

ROWS, WIDTH, LAYERS = (Expr.symbol(name) for name in ("rows", "width", "layers"))


class Stack(nn.Module):
    """As many layers as it is told."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(layers)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Alternating(nn.Module):
    """Every second layer adds."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.count = layers

    def forward(self, x: Tensor) -> Tensor:
        for i in range(self.count):
            x = x.view(-1) if i % 2 else x + 1
        return x


class Linear(nn.Module):
    """Every layer adds."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.count = layers

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(self.count):
            x = x + 1
        return x


class Doubling(nn.Module):
    """Work that doubles with every layer."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.count = layers

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(2 ** range(self.count).stop):
            x = x + 1
        return x


class Pair(nn.Module):
    """Two stacks, one behind the other."""

    def __init__(self, width: int, layers: int, heads: int) -> None:
        super().__init__()
        self.first, self.second = Stack(width, layers), Stack(width, heads)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x))


class Grid(nn.Module):
    """As many additions as rounds times layers."""

    def __init__(self, layers: int, rounds: int) -> None:
        super().__init__()
        self.count = [layers, rounds]

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(self.count[0]):
            for _ in range(self.count[1]):
                x = x + 1
        return x


def mended(recipe: Recipe, start: int = 2, step: int = 1) -> Pattern | None:
    """The pattern of a recipe with its layers symbolic again."""
    run = run_symbolically(recipe)
    found = patterns(run, recipe.calls_as)[:1]
    numbers = {name: note.hint for name, note in run.notes.items()}
    return without_loops(recipe, torch.float32, found, {"layers": counted(start, step)}, None, numbers)[0]


@pytest.fixture
def counting(recipe_from: Callable[..., Recipe]) -> Callable[[type[nn.Module]], Recipe]:
    """A recipe of a class that is told a number of layers."""

    def make(kind: type[nn.Module]) -> Recipe:
        return recipe_from(
            kind, lambda n: kind(n.layers), lambda n, maker: (maker.floats((n.rows,)),), rows=5, layers=3
        )

    return make


@pytest.fixture
def stack(recipe_from: Callable[..., Recipe]) -> Recipe:
    """Three layers over some rows."""
    return recipe_from(
        Stack,
        lambda n: Stack(n.width, n.layers),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        rows=5,
        width=8,
        layers=3,
    )


def test_number_of_layers_is_written_down(stack: Recipe) -> None:
    """The loop in the constructor consumed the number of layers, so the formula of the run has none."""
    (pattern,) = patterns(run_symbolically(stack), stack.calls_as)

    assert [("layers",)] == [one.symbols for one in pattern.consumed]
    assert 6 * ROWS * WIDTH * WIDTH == pattern.summary.totals.flops


def test_number_of_layers_comes_back(stack: Recipe) -> None:
    """Costs are linear in the layers, in total and at the line of the loop; the peak stays."""
    pattern = mended(stack)
    assert pattern is not None
    width = Expr.symbol("a_dtype_bytes")

    assert 2 * LAYERS * ROWS * WIDTH * WIDTH == pattern.summary.totals.flops
    assert [pattern.summary.totals] == [line.cost for line in pattern.summary.lines]
    assert LAYERS * WIDTH * WIDTH * Expr.symbol("w_dtype_bytes") == pattern.summary.weights
    assert (LAYERS - 1) * ROWS * WIDTH * width == pattern.summary.intermediates
    assert (2 * ROWS * WIDTH * width,) == pattern.summary.peaks


def test_layers_that_alternate_need_a_parity(counting: Callable[[type[nn.Module]], Recipe]) -> None:
    """A count of every second layer is no polynomial; for even numbers of layers it is, and that is said."""
    recipe = counting(Alternating)
    pattern = mended(recipe, start=4, step=2)

    assert mended(recipe) is None
    assert pattern is not None
    assert (LAYERS * ROWS).exact_div(Expr.const(2)) == pattern.summary.totals.pointwise_ops
    assert "{layers} % 2 == 0" in [c.text() for c in pattern.conditions]


def test_exponential_is_refused(counting: Callable[[type[nn.Module]], Recipe]) -> None:
    """What doubles with every layer fits no polynomial and gives no formula."""
    assert mended(counting(Doubling)) is None


def test_counts_that_multiply_are_not_added_up(recipe_from: Callable[..., Recipe]) -> None:
    """Two counts, each linear alone: the run with both changed refuses the sum."""
    recipe = recipe_from(
        Grid,
        lambda n: Grid(n.layers, n.rounds),
        lambda n, maker: (maker.floats((n.rows,)),),
        rows=5,
        layers=3,
        rounds=4,
    )
    found = patterns(run_symbolically(recipe), recipe.calls_as)[:1]
    counts = dict.fromkeys(["layers", "rounds"], counted(2))
    assert [None] == without_loops(recipe, torch.float32, found, counts)


@pytest.mark.parametrize(("kind", "asked"), [(Alternating, [4, 5, 3, 6]), (Doubling, [4, 5, 3, 6])])
def test_what_does_not_fit_a_few_counts_is_tried_at_more(
    counting: Callable[[type[nn.Module]], Recipe], kind: type[nn.Module], asked: list[int]
) -> None:
    """Two counts beside the one that ran do where all is linear; else that runs anew, and one more."""
    for one, wanted in ((kind, asked), (Linear, [4, 5])):
        recipe, seen = counting(one), []

        def run(
            recipe: Recipe, dtype: torch.dtype, hints: Numbers, pinned: Numbers, seen: list[int] = seen
        ) -> SymbolicRun:
            seen.append((pinned or {})["layers"])
            return run_symbolically(recipe, dtype, hints, pinned)

        found = patterns(run_symbolically(recipe), recipe.calls_as)[:1]
        known = [pattern.summary for pattern in found]
        without_loops(recipe, torch.float32, found, {"layers": counted(3)}, run=run, known=known)

        assert wanted == seen


def test_counts_that_add_up_take_a_run_each_and_one_together(recipe_from: Callable[..., Recipe]) -> None:
    """Straight lines in two counts: each is raised once, and a run with both larger confirms the sum."""
    recipe = recipe_from(
        Pair,
        lambda n: Pair(n.width, n.layers, n.heads),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        rows=5,
        width=8,
        layers=3,
        heads=4,
    )
    seen = []

    def run(recipe: Recipe, dtype: torch.dtype, hints: Numbers, pinned: Numbers) -> SymbolicRun:
        seen.append(tuple((pinned or {}).values()))
        return run_symbolically(recipe, dtype, hints, pinned)

    found = patterns(run_symbolically(recipe), recipe.calls_as)[:1]
    counts = {"layers": counted(2), "heads": counted(2)}
    [pattern] = without_loops(recipe, torch.float32, found, counts, run=run)

    assert pattern is not None
    assert 2 * (LAYERS + Expr.symbol("heads")) * ROWS * WIDTH * WIDTH == pattern.summary.totals.flops
    assert [(2, 2), (3, 2), (2, 3), (4, 4)] == seen


def test_a_run_serves_all_ways_of_choosing_counts(counting: Callable[[type[nn.Module]], Recipe]) -> None:
    """Of 4 to 7 layers and of 4, 6, 8 and 10 two are the same; what is found is what separate runs give."""
    recipe = counting(Alternating)
    made: Made = {}
    seen: list[int] = []

    def run(recipe: Recipe, dtype: torch.dtype, hints: Numbers, pinned: Numbers) -> SymbolicRun:
        seen.append((pinned or {})["layers"])
        return run_symbolically(recipe, dtype, hints, pinned)

    found = patterns(run_symbolically(recipe), recipe.calls_as)[:1]
    ways = [{"layers": counted(4)}, {"layers": counted(4, 2)}]
    together = [without_loops(recipe, torch.float32, found, way, run=run, made=made) for way in ways]
    apart = [without_loops(recipe, torch.float32, found, way) for way in ways]

    assert [4, 5, 6, 7, 8, 10] == seen
    assert [None] == together[0] == apart[0]
    assert together[1] != [None]
    assert [one and one.summary for one in apart[1]] == [one and one.summary for one in together[1]]
