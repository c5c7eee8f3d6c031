"""A formula interpolated over counts says up to how many it holds, where no run with many more agreed."""

from __future__ import annotations

import math
import random

import pytest
from torch import Tensor, nn

from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation.explore import FULL
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import relax
from forwardbook.profiling.farther import Farther, is_far

from .matrices import Maker, Projection, Stack, over_rows

WIDER = (4, 9)  # indices of layers that do more, as a configuration lists them


class Listed(Stack):
    """One product in each layer; in those that are listed another."""

    def is_wider(self, index: int) -> bool:
        return index in WIDER

    def forward(self, x: Tensor) -> Tensor:
        for index, layer in enumerate(self.layers):
            x = layer(layer(x)) if self.is_wider(index) else layer(x)
        return x


class Both(nn.Module):
    """Layers of which some are listed, and others that are all alike."""

    def __init__(self, width: int, layers: int, more: int) -> None:
        super().__init__()
        self.listed, self.alike = Listed(width, layers), Stack(width, more)

    def forward(self, x: Tensor) -> Tensor:
        return self.alike(self.listed(x))


class Round(Listed):
    """One product in each layer, in every fourth two."""

    def is_wider(self, index: int) -> bool:
        return index % 4 == 3


class AtMost(nn.Module):
    """As many equal layers as it is told, which may not be more than a dozen."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Projection(width) for _ in range(layers)])
        if len(self.layers) > 12:
            raise ValueError("too many")

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Lagged(nn.Module):
    """One product for each of so many lags, a factor times the logarithm of the rows."""

    def __init__(self, width: int, factor: int) -> None:
        super().__init__()
        self.layer, self.factor = Projection(width), factor

    def forward(self, x: Tensor) -> Tensor:
        lags = int(self.factor * math.log(x.shape[0]))
        if lags > x.shape[0]:
            raise ValueError("more lags than rows")
        for _ in range(lags):
            x = self.layer(x)
        return x


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("kind", "name", "wrong"), [(Listed, "layers", 5), (AtMost, "layers", 13), (Lagged, "factor", 6)]
)
def test_a_count_is_at_most_what_agreed(
    recipe_from: Maker, kind: type[nn.Module], name: str, wrong: int, seed: int
) -> None:
    """Where more layers cost another amount or are refused, no regime holds for as many, not even relaxed."""
    recipe = over_rows(recipe_from, kind, "width", name, **{name: 2, "rows": 17})
    rows = Condition.parse("{rows} == 17")
    for found in relax(derive(recipe, FULL, [recipe.calls_as], seed, held=[rows]), seed):
        sizes = {"rows": 17, "width": 6, name: wrong}
        assert not found.derived.exact or not all(c.holds(sizes) for c in found.conditions)


def test_kinds_of_layers_that_come_round_give_a_formula_of_as_many_as_one_likes(recipe_from: Maker) -> None:
    """Of 4 to 7 layers each one more costs the same, and so do each four more of any number of fours."""
    recipe = over_rows(recipe_from, Round, "width", "layers", layers=4)
    [found] = relax(derive(recipe, FULL, [recipe.calls_as], 1), 1)

    assert found.derived.exact
    assert all(
        (count % 4 == 0) is all(c.holds({"rows": 9, "width": 6, "layers": count}) for c in found.conditions)
        for count in range(4, 60)
    )
    flops = Expr.of(found.derived.pattern.summary.totals.flops)
    assert 2 * 9 * 6 * 6 * 50 == flops.evaluate({"rows": 9, "width": 6, "layers": 40})


class LastOfMany(Listed):
    """One product in each layer; in the 26th another."""

    def is_wider(self, index: int) -> bool:
        return index == 25


@pytest.mark.parametrize("seed", range(3))
def test_what_few_layers_say_is_not_said_of_the_run_itself_unless_it_is_so(
    recipe_from: Maker, seed: int
) -> None:
    """Neither few layers nor twenty of them have the one that the run with 26 has."""
    recipe = over_rows(recipe_from, LastOfMany, "width", "layers", layers=26)
    sizes = {"rows": 9, "width": 6, "layers": 26}
    for found in relax(derive(recipe, FULL, [recipe.calls_as], seed), seed):
        if found.derived.exact and all(c.holds(sizes) for c in found.conditions):
            flops = Expr.of(found.derived.pattern.summary.totals.flops)
            assert 2 * 9 * 6 * 6 * 27 == flops.evaluate(sizes)


def test_only_the_count_that_is_wrong_far_is_bounded(recipe_from: Maker) -> None:
    """Of two counts of layers, one listed by index, the other may be as large as one likes."""
    recipe = over_rows(recipe_from, Both, "width", "layers", "more", layers=2, more=3)
    [found] = relax(derive(recipe, FULL, [recipe.calls_as], 1), 1)

    assert found.derived.exact
    few, many = ({"rows": 9, "width": 6, "layers": n, "more": 40} for n in (3, 5))
    assert all(c.holds(few) for c in found.conditions)
    assert not all(c.holds(many) for c in found.conditions)


def test_each_count_is_tried_by_itself_where_all_are_refused() -> None:
    """Of two counts the one that can be large is met by itself; then nearer values of the other are asked."""
    farther = Farther({"layers": 6, "stages": 6}, random.Random(1))
    asked = []
    while farther.open:
        sizes = {"layers": 2, "stages": 2} | farther.asked()
        asked.append(sorted(name for name, value in sizes.items() if value > 6))
        if sizes["stages"] <= 6:
            farther.met(sizes)

    assert [["layers", "stages"], ["layers", "stages"], ["layers"], ["stages"], ["stages"]] == asked
    assert {} == farther.asked()


def test_far_counts_are_such_as_conditions_on_them_allow() -> None:
    """Where a formula is of every fourth layer, no other number is tried; other sizes say nothing of it."""
    said = [Condition.parse("{layers} % 4 == 1"), Condition.parse("{layers} <= {stages}")]

    asked = [Farther({"layers": 6}, random.Random(seed), said).asked()["layers"] for seed in range(20)]

    assert {17} == set(asked)


def test_far_is_beyond_kinds_of_layers_that_come_round() -> None:
    """Eight layers further are far, for what comes round every eight."""
    assert (True, False) == (is_far(14, 6), is_far(13, 6))
