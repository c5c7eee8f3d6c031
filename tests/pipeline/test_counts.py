"""Sizes that became numbers on the way: counts of loops and factors are found again, or said."""

from __future__ import annotations

import math
import operator
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from forwardbook.analyzers.symbolic import loops
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation.counts_tried import Counts, Favoured
from forwardbook.pipeline.derivation.derived import Derived, pins
from forwardbook.pipeline.derivation.explore import FULL, LOW
from forwardbook.pipeline.derivation.over_counts import over_counts
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import relax

from .matrices import ROWS, WIDTH, Maker, Projection, Stack, over_rows


class Growing(nn.Module):
    """Repeats its rows as often as a float says; scales them by another."""

    def __init__(self, times: int, heads: int) -> None:
        super().__init__()
        self.times, self.scale = float(times), float(heads) ** -0.5

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(x[None, None] * self.scale, scale_factor=(self.times, 1.0))


class Columns(nn.Module):
    """Takes as many columns as the matrix has, one by one, and as many layers as it is told."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.ModuleList([Projection(width) for _ in range(layers)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return torch.stack([x[:, i] * 2 for i in range(self.width)], -1)


class Halving(Stack):
    """One product for each time that the factor halves."""

    def __init__(self, width: int, factor: int) -> None:
        super().__init__(width, int(math.log2(factor)))


def test_a_formula_holds_where_the_logarithm_of_a_factor_stays_what_it_was(recipe_from: Maker) -> None:
    """How many layers a logarithm gives is no formula: the regime is that of factors which give as many."""
    recipe = over_rows(recipe_from, Halving, "width", "factor", factor=8)
    [one] = derive(recipe, FULL, [recipe.calls_as], seed=1)
    said = [c.text() for c in one.pattern.conditions]

    assert one.exact
    assert {"{factor} >= 8", "{factor} <= 15"} <= set(said)
    assert all(8 <= point.sizes["factor"] <= 15 for point in one.proof.points)
    assert 2 * 3 * ROWS * WIDTH * WIDTH == one.pattern.summary.totals.flops


class HalvingBy(Stack):
    """One product for each time that the total is divided by the stride."""

    def __init__(self, width: int, total: int, stride: int) -> None:
        super().__init__(width, int(math.log2(total) // math.log2(stride)))


def test_what_keeps_a_number_is_no_condition_to_drop(recipe_from: Maker) -> None:
    """17 gives as many layers as 16 does, and 64 more: that a neighbour changes nothing proves nothing."""
    recipe = over_rows(recipe_from, HalvingBy, "width", "total", "stride", total=16, stride=2)
    derived = derive(recipe, FULL, [recipe.calls_as], seed=1)

    for seed in range(8):
        [relaxed] = relax(derived, seed)

        assert {"{total} == 16", "{stride} == 2"} <= {c.text() for c in relaxed.conditions}


class OneByOne(nn.Module):
    """Goes through its rows, and projects all of them at once."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = Projection(width)

    def forward(self, x: Tensor) -> Tensor:
        return self.project(torch.cat([row[None] for row in x]))


def test_what_is_called_beside_a_loop_over_its_input_is_of_any_length(recipe_from: Maker) -> None:
    """A formula that is exact for the rows that were gone through is found for others, too."""
    recipe = replace(
        over_rows(recipe_from, OneByOne, "width"),
        inputs=lambda of, _, maker: ((maker.floats((of("rows", 9, "", "forward"), of("width", 6))),), {}),
    )
    of_parts = f"{Projection.__module__}.{Projection.__qualname__}"
    one, _ = derive(recipe, FULL, [of_parts, recipe.calls_as], seed=1)
    rows, width = Expr.symbol("rows"), Expr.symbol("width")

    assert one.exact
    assert not pins(one.pattern.conditions, "rows", {"rows": one.notes["rows"].hint})
    assert 2 * rows * width * width == Expr.of(one.pattern.summary.totals.flops)


def test_factor_behind_a_float_is_found(recipe_from: Maker) -> None:
    """A size that float() turned into a number is in a formula that fails without it, a mere scale is not."""
    recipe = over_rows(recipe_from, Growing, "times", "heads", times=3, heads=5)
    [found] = derive(recipe, FULL, [recipe.calls_as], seed=1)

    written = Expr.of(found.pattern.summary.quantities()["writes"])

    assert found.exact
    assert written.subs({"a_dtype_bytes": 4}) == 4 * ROWS * WIDTH * (1 + Expr.symbol("times"))


def test_what_worked_for_another_recipe_is_tried_first(
    recipe_from: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First values and step that gave a formula are written down; from what a run had fewer runs are due."""
    runs: list[object] = []
    real = loops.run_symbolically
    monkeypatch.setattr(
        loops.without_loops,
        "__defaults__",
        tuple(
            (lambda *given: runs.append(given) or real(*given)) if one is real else one
            for one in loops.without_loops.__defaults__
        ),
    )
    recipe = over_rows(recipe_from, Stack, "width", "layers", layers=4)
    found = derive(recipe, FULL, [recipe.calls_as], seed=1, loops=False)
    favoured: Favoured = {}
    [first] = over_counts(found, seed=1, favoured=favoured)
    asked = len(runs)
    [again] = over_counts(found, seed=1, favoured={("layers",): Counts({"layers": loops.counted(4)})})

    assert first.exact and again.exact
    assert {("layers",): Counts({"layers": loops.counted(2)})} == favoured
    assert asked > len(runs) - asked > 0
    assert Expr.of(first.pattern.summary.totals.flops) == Expr.of(again.pattern.summary.totals.flops)


def test_a_derivation_is_told_what_counts_worked(recipe_from: Maker) -> None:
    """Without a word from the least numbers of layers on, else from those that gave a formula before."""
    recipe = over_rows(recipe_from, Stack, "width", "layers", layers=4)
    for told, first in (({}, 2), ({("layers",): Counts({"layers": loops.counted(4)})}, 4)):
        favoured: Favoured = dict(told)
        [one] = derive(recipe, LOW, [recipe.calls_as], seed=1, favoured=favoured)

        assert one.exact
        assert {("layers",): Counts({"layers": loops.counted(first)})} == favoured


def test_number_of_layers_is_free_again(recipe_from: Maker) -> None:
    """A loop over layers is interpolated over and proved; the layer itself is one pattern of all layers."""
    recipe = over_rows(recipe_from, Stack, "width", "layers", layers=3)
    inner = f"{Projection.__module__}.{Projection.__qualname__}"
    stack, layer = derive(recipe, FULL, [recipe.calls_as, inner], seed=1)

    assert (("layers",), True, True) == (stack.interpolated, stack.exact, layer.exact)
    assert 2 * Expr.symbol("layers") * ROWS * WIDTH * WIDTH == stack.pattern.summary.totals.flops
    assert ("layers.0", "layers.1", "layers.2") == layer.pattern.paths


@pytest.mark.parametrize(
    ("text", "pinned"),
    [("{rows} == 9", True), ("{rows} > 4", False), ("{rows} % 3 == 0", False), ("{rows} == {width}", False)],
)
def test_size_is_pinned_by_an_equality(text: str, pinned: bool) -> None:
    """A size is pinned where conditions on it alone hold nowhere near."""
    assert pinned is pins([Condition.parse(text)], "rows", {"rows": 9, "width": 9})


def test_a_count_that_never_changed_is_a_condition(recipe_from: Maker) -> None:
    """What became a number, and was the same wherever formulas held, is said though they do not name it."""
    recipe = over_rows(recipe_from, Columns, "width", "layers", layers=3)
    held = (Condition.parse("{width} == 6"),)
    [one] = derive(recipe, FULL, [recipe.calls_as], seed=1, held=held)

    assert (("layers",), True) == (one.interpolated, one.exact)
    assert "{width} == 6" in [c.text() for c in one.pattern.conditions]


class Banded(nn.Module):
    """Makes one row for each four of its input, and takes their number from Python."""

    def forward(self, x: Tensor) -> Tensor:
        return x.new_ones(operator.index(x.shape[0] // 4), x.shape[1]).exp()


def test_a_number_that_never_changed_is_a_condition_though_its_size_did(recipe_from: Maker) -> None:
    """Of 8 to 11 rows two are made: the formula says nothing of rows, and holds for no others."""
    recipe = over_rows(recipe_from, Banded)
    held = (Condition.parse("{rows} >= 8"), Condition.parse("{rows} <= 11"))
    [one] = derive(recipe, FULL, [recipe.calls_as], seed=1, held=held)

    assert one.exact and 1 < len({point.sizes["rows"] for point in one.proof.points})
    assert "rows" not in one.pattern.summary.symbols()
    assert "floor({rows} / 4) == 2" in [c.text() for c in one.pattern.conditions]


class Noted(nn.Module):
    """Layers over a matrix; beside, one note is taken for each of its rows."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.stack = Stack(width, layers)

    def forward(self, x: Tensor) -> Tensor:
        self.notes = [None for _ in range(x.shape[0])]
        return self.stack(x)


def test_a_size_that_the_formulas_name_is_not_why_they_fail(recipe_from: Maker) -> None:
    """Rows were asked for their number, but are in the formula: only the layers are interpolated over."""
    recipe = over_rows(recipe_from, Noted, "width", "layers", layers=4)
    [found] = derive(recipe, FULL, [recipe.calls_as], seed=1)

    assert found.exact
    assert ("layers",) == found.interpolated
    assert 2 * Expr.symbol("layers") * ROWS * WIDTH * WIDTH == found.pattern.summary.totals.flops


def test_a_formula_wrong_below_its_first_count_says_from_which_it_holds(recipe_from: Maker) -> None:
    """One layer has nothing alive beside its output, two and more have: the peak holds from two on."""
    recipe = over_rows(recipe_from, Stack, "width", "layers", layers=4)
    [found] = derive(recipe, FULL, [recipe.calls_as], seed=1)

    assert found.exact
    assert "{layers} >= 2" in [c.text() for c in found.pattern.conditions]


def test_what_holds_over_counts_stays_when_time_is_over(
    recipe_from: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever ends the work has each pattern as far as it is by then."""
    recipe = over_rows(recipe_from, Stack, "width", "layers", layers=4)
    found = derive(recipe, FULL, [recipe.calls_as], seed=1, loops=False)
    progress: list[Derived] = []

    def late(one: Derived) -> Derived:
        raise KeyboardInterrupt

    monkeypatch.setattr("forwardbook.pipeline.derivation.over_counts.with_counts_said", late)
    with pytest.raises(KeyboardInterrupt):
        over_counts(found, seed=1, progress=progress)

    assert [True] == [one.exact and bool(one.interpolated) for one in progress]


class Chunks(nn.Module):
    """Scales rows in chunks of so many, and takes as many layers as it is told."""

    def __init__(self, width: int, stride: int, layers: int) -> None:
        super().__init__()
        self.stride = stride
        self.layers = nn.ModuleList([Projection(width) for _ in range(layers)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return torch.cat([x[start : start + self.stride] * 2 for start in range(0, len(x), self.stride)])


def test_a_length_gone_through_in_steps_stays_while_layers_vary(recipe_from: Maker) -> None:
    """The stride is a condition, and the count of layers a symbol of the formula."""
    recipe = over_rows(recipe_from, Chunks, "width", "stride", "layers", rows=150, stride=64, layers=3)
    found = derive(recipe, FULL, [recipe.calls_as], seed=1, loops=False)
    [one] = over_counts(found, seed=1)

    assert one.exact
    assert "{stride} == 64" in [c.text() for c in one.pattern.conditions]
    flops = Expr.of(one.pattern.summary.totals.flops)
    assert 2 * 150 * 7 * 36 == flops.evaluate({"rows": 150, "width": 6, "layers": 7})
