"""A regime is proved under its own conditions, not only where those of what holds the module hold too."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.formula import Condition
from forwardbook.pipeline.derivation import own_conditions
from forwardbook.pipeline.derivation.derived import Derived, with_counts_said
from forwardbook.pipeline.derivation.explore import FULL
from forwardbook.pipeline.derivation.own_conditions import of_others
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import relax

from .matrices import Maker, Projection, over_rows

LAYER = f"{Projection.__module__}.{Projection.__qualname__}"


class Holder(nn.Module):
    """What calls a layer; some hang on a number as well."""

    def __init__(self, width: int, number: int = 0) -> None:
        super().__init__()
        self.layer = Projection(width)
        self.number = number


class Square(Holder):
    """A layer over patches of a square image, after more questions than are put to the test one by one."""

    def forward(self, x: Tensor) -> Tensor:
        if any(x.shape[2] == width for width in range(100, 120)):
            raise ValueError("no such width")
        side = int(x.shape[1] ** 0.5)
        return self.layer(x.reshape(x.shape[0], side, side, x.shape[2]))


def _with_needed(recipe: Recipe, seed: int) -> tuple[list[Derived], list[list[Condition]]]:
    """A model and the projection within it, and what each needs of the other's conditions."""
    derived = derive(recipe, FULL, [recipe.calls_as, LAYER], seed)
    return derived, of_others(derived, [derived[0].pattern.conditions, ()], (), random.Random(seed))


@pytest.mark.parametrize("seed", range(4))
def test_a_layer_handed_a_number_says_the_sizes_that_the_number_was_made_of(
    recipe_from: Maker, seed: int
) -> None:
    """24 / 6 and 32 / 8 give four rows and 30 / 6 five: neither size is held, yet their ratio is."""
    recipe = recipe_from(
        Square,
        lambda n: Square(n.width),
        lambda n, maker: (maker.floats((n.batch, n.image * n.image // (n.patch * n.patch), n.width)),),
        batch=3,
        image=24,
        patch=6,
        width=10,
    )
    derived, needed = _with_needed(recipe, seed)

    assert ([], True) == (needed[0], derived[1].exact)
    sizes = {"batch": 3, "image": 30, "patch": 6, "width": 10}
    right = derived[1].pattern.summary.totals.flops.evaluate(sizes) == 2 * 3 * 25 * 10 * 10
    assert right or not all(c.holds(sizes) for c in needed[1])


class Thinned(Holder):
    """A layer over every row or every second one, as a limit in the constructor says."""

    def __init__(self, width: int, limit: int) -> None:
        super().__init__(width)
        self.step = 2 if limit > 16 else 1

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x[:, :: self.step])


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_layer_says_the_threshold_in_the_constructor_of_what_holds_it(
    recipe_from: Maker, seed: int
) -> None:
    """Also where nothing is asked of the costs of what holds it: its rows are every second one above 16."""
    recipe = recipe_from(
        Thinned,
        lambda n: Thinned(n.width, n.limit),
        lambda n, maker: (maker.floats((n.batch, n.rows, n.width)),),
        batch=3,
        rows=24,
        limit=32,
        width=10,
    )
    derived = derive(recipe, FULL, [LAYER], seed)
    needed = of_others(derived, [()], (), random.Random(seed))

    assert derived[0].exact
    assert "{limit} > 16" in [c.text() for c in needed[0]]


@pytest.mark.parametrize(("values", "said"), [((2, 2, 2), True), ((2, 3, 2), False)])
def test_what_the_caller_chose_and_no_point_changed_is_a_condition(
    recipe_from: Maker, values: tuple[int, ...], said: bool
) -> None:
    """A proof in which others kept the number of images says so, though the formula does not name it."""
    recipe = over_rows(recipe_from, Projection, "width")
    [one] = derive(recipe, FULL, [recipe.calls_as], seed=1)
    measured = zip(one.proof.points, values, strict=False)
    points = [replace(p, sizes={**p.sizes, "images": n}) for p, n in measured]
    images = replace(one.notes["rows"], hint=2)
    kept = replace(one, notes={**one.notes, "images": images}, proof=replace(one.proof, points=points))

    assert said is ("{images} == 2" in [c.text() for c in with_counts_said(kept).pattern.conditions])


class Halved(Holder):
    """A layer over every second row, after a row more where they are odd."""

    def forward(self, x: Tensor) -> Tensor:
        if any(x.shape[1] == width for width in range(100, 120)):
            raise ValueError("no such width")
        if x.shape[0] % 2 != 0:
            x = F.pad(x, (0, 0, 0, 1))
        return self.layer(x.reshape(-1, 2, x.shape[1])[:, 0])


@pytest.mark.parametrize("seed", range(4))
def test_what_the_caller_rounds_up_is_said_by_the_layer(recipe_from: Maker, seed: int) -> None:
    """Of an odd number of rows one more than half reach the layer: it says that it is of even ones."""
    recipe = over_rows(recipe_from, Halved, "width", rows=24)
    derived, needed = _with_needed(recipe, seed)

    assert derived[1].exact
    sizes = {"rows": 25, "width": 10}
    right = derived[1].pattern.summary.totals.flops.evaluate(sizes) == 2 * 13 * 10 * 10
    assert right or not all(c.holds(sizes) for c in needed[1])


class AtLeast(Holder):
    """A layer over the rows that come, or over as many as there are to be at least."""

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x.new_zeros(max(self.number, x.shape[0]), x.shape[1]))


@pytest.mark.parametrize("seed", range(8))
def test_what_is_right_at_a_border_alone_does_not_hold_beyond(recipe_from: Maker, seed: int) -> None:
    """Nine rows are nine where there are to be nine at least, and twelve where there are to be twelve."""
    recipe = over_rows(recipe_from, AtLeast, "width", "least", least=5)
    relaxed = relax(derive(recipe, FULL, [recipe.calls_as, LAYER], seed), seed)

    sizes = {"rows": 9, "width": 6, "least": 12}
    assert all(any(not c.holds(sizes) for c in one.conditions) for one in relaxed)


class Halving(Holder):
    """A layer over rows that are halved as often as a factor is a power of two."""

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(int(math.log2(self.number))):
            x = x[::2]
        return self.layer(x)


@pytest.mark.parametrize("seed", range(4))
def test_how_often_the_caller_did_something_is_said_by_the_layer(recipe_from: Maker, seed: int) -> None:
    """Of factors from 8 to 15 the caller halves three times: the layer's formula speaks of no other."""
    recipe = over_rows(recipe_from, Halving, "width", "factor", rows=640, width=10, factor=8)
    derived, needed = _with_needed(recipe, seed)

    assert derived[1].exact
    for factor, rows in ((8, 80), (20, 40)):
        sizes = {"rows": 640, "width": 10, "factor": factor}
        right = derived[1].pattern.summary.totals.flops.evaluate(sizes) == 2 * rows * 10 * 10
        assert right or not all(c.holds(sizes) for c in needed[1])


class Again(Holder):
    """A layer over all rows and some of them again, of which there are a fifth of a factor."""

    def forward(self, x: Tensor) -> Tensor:
        if any(x.shape[1] == width for width in range(100, 120)):
            raise ValueError("no such width")
        if x.shape[0] != 5 * self.number:
            return self.layer(x)
        again = list(range(x.shape[0] // self.number))
        return self.layer(torch.cat([x, x[again]]))


@pytest.fixture
def unsearched(recipe_from: Maker, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    """That layer and its caller, where no run is made to break what was not broken."""
    monkeypatch.setattr(own_conditions, "DRAWS", 0)
    monkeypatch.setattr(own_conditions, "PER_PATTERN", 0)
    return over_rows(recipe_from, Again, "width", "factor", rows=20, width=10, factor=4)


def test_an_equation_that_no_run_breaks_is_said_of_sizes_that_were_needed_as_numbers(
    unsearched: Recipe,
) -> None:
    """Without a run that shows it nobody knows that the layer's formula does not hang on it."""
    derived, needed = _with_needed(unsearched, 1)

    assert derived[1].exact
    assert ["{rows} == 5 * {factor}"] == [c.text() for c in needed[1]]


def test_an_equation_that_a_point_of_the_proof_breaks_is_not_said(unsearched: Recipe) -> None:
    """That the formula held there is known; no further run is due."""
    (holder, layer), needed = _with_needed(unsearched, 1)
    points = layer.proof.points
    apart = replace(points[0], sizes={**points[0].sizes, "rows": 33})
    known = replace(layer, proof=replace(layer.proof, points=[*points, apart]))
    conditions = [holder.pattern.conditions, ()]

    assert [] != needed[1]
    assert [] == of_others([holder, known], conditions, (), random.Random(1))[1]
