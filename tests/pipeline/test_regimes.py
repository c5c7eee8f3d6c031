"""Regimes of small modules: which conditions stay, where the next regime begins, what float width changes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation import relax as relaxing
from forwardbook.pipeline.derivation.explore import FULL, LOW, regimes_of
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.derivation.regimes import (
    derive,
    negated,
    run_first,
)
from forwardbook.pipeline.derivation.relax import Learnt, relax

from .matrices import ROWS, WIDTH, Maker, Projection, over_rows

BYTES = Expr.symbol("a_dtype_bytes")


class Branching(nn.Module):
    """Twice the work above four rows."""

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > 4:
            x = x + 1
        return x * 2


class Asking(nn.Module):
    """Asks, and does the same either way."""

    def forward(self, x: Tensor) -> Tensor:
        return x * 2 if x.shape[0] > 4 else x * 3


class Hiding(nn.Module):
    """Asks for the width only where there are few rows, at a width beyond those of a proof."""

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] <= 4 and x.shape[1] > 5000:
            x = x + 1
        return x * 2


class Halving(nn.Module):
    """Hands half of many columns to the module within, which asks for nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Asking()

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] > 100:
            x = x[:, : x.shape[1] // 2]
        return self.inner(x)


class Sampled(nn.Module):
    """Scales by a weight that is drawn, and squared first; another name has the same weight."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.normal(0.0, 0.1, size=(width,)))
        self.again = self.weight

    def forward(self, x: Tensor) -> Tensor:
        return x * (self.weight * self.again)


class Holding(nn.Module):
    """Calls the module within, and asks for nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Asking()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


class HoldingAndHiding(Holding):
    """Asks for the width where there are few rows."""

    def forward(self, x: Tensor) -> Tensor:
        y = self.inner(x)
        return y + 1 if x.shape[0] <= 4 and x.shape[1] > 100 else y


class HidingTwo(nn.Module):
    """Asks for the width twice, only where there are few rows."""

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] <= 4 and (x.shape[1] > 100 or x.shape[1] < 3):
            x = x + 1
        return x * 2


class Refusing(nn.Module):
    """Takes even widths only."""

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] % 2:
            raise ValueError("odd")
        return x * 2


class Norm(nn.Module):
    """Root mean square in float32, as language models have it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


def told(found: list[Found]) -> list[tuple[str, list[str]]]:
    """Label and conditions of every regime."""
    return [(one.label, [c.text() for c in one.conditions]) for one in found]


def flops(one: Found) -> Expr:
    """The multiplications of a regime."""
    return Expr.of(one.derived.pattern.summary.quantities()["flops"])


def test_condition_that_matters_is_kept(recipe_from: Maker) -> None:
    """A branch that changes the cost stays a condition, alone; sizes are known where it gives way."""
    recipe = over_rows(recipe_from, Branching)
    (relaxed,) = relax(derive(recipe, FULL, [recipe.calls_as], seed=1), seed=1)

    [(broken, sizes)] = relaxed.breaches

    assert ["{rows} > 4"] == [c.text() for c in relaxed.conditions]
    assert ("{rows} > 4", True) == (broken.text(), sizes["rows"] <= 4)


@pytest.mark.parametrize(("kind", "again"), [(Holding, False), (HoldingAndHiding, True)])
def test_what_is_known_of_a_part_is_not_run_again(
    recipe_from: Maker, kind: type[nn.Module], again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path beyond a condition of a part is looked at once, unless what holds it asks about that size."""
    part, whole = over_rows(recipe_from, Asking), over_rows(recipe_from, kind)
    inside = [f"{Asking.__module__}.{Asking.__qualname__}", whole.calls_as]
    learnt = Learnt()
    relax(derive(part, FULL, [part.calls_as], seed=1), seed=1, learnt=learnt)
    plain = relax(derive(whole, FULL, inside, seed=1), seed=1)
    looked: list[Condition] = []
    real = relaxing.further_guards
    monkeypatch.setattr(
        relaxing, "further_guards", lambda test, *rest: looked.append(test) or real(test, *rest)
    )

    found = relax(derive(whole, FULL, inside[1:], seed=1), seed=1, learnt=learnt)

    assert "{rows} > 4" in learnt.beyond
    assert again == ("{rows} > 4" in [c.text() for c in looked])
    assert [one.conditions for one in plain[1:]] == [one.conditions for one in found]


def test_weights_made_outside_any_device_are_counted(recipe_from: Maker) -> None:
    """torch.normal makes real tensors whatever the default device: its weights count, once where shared."""
    recipe = over_rows(recipe_from, Sampled, "width")
    [found] = derive(recipe, FULL, [recipe.calls_as], seed=1)

    quantities = found.pattern.summary.quantities()

    assert found.exact
    assert Expr.of(quantities["weights"]) == WIDTH * Expr.symbol("w_dtype_bytes")
    assert Expr.of(quantities["pointwise_ops"]) == WIDTH + ROWS * WIDTH


def test_condition_that_does_not_matter_is_dropped(recipe_from: Maker) -> None:
    """A branch whose two ways cost the same is no condition, and the sizes that broke it join the proof."""
    recipe = over_rows(recipe_from, Asking)
    derived = derive(recipe, FULL, [recipe.calls_as], seed=1)
    (relaxed,) = relax(derived, seed=1)

    assert ((), ()) == (relaxed.conditions, relaxed.breaches)
    assert len(derived[0].proof.points) < len(relaxed.derived.proof.points)
    assert any(point.sizes["rows"] <= 4 for point in relaxed.derived.proof.points)


def test_guard_of_the_path_beyond_a_dropped_condition_takes_its_place(recipe_from: Maker) -> None:
    """What the code beyond a dropped condition asks for, and matters, is the condition from then on."""
    recipe = over_rows(recipe_from, Hiding, rows=8)
    (relaxed,) = relax(derive(recipe, FULL, [recipe.calls_as], seed=1), seed=1)

    assert ["{width} <= 5000"] == [c.text() for c in relaxed.conditions]
    assert relaxed.derived.exact
    assert any(point.sizes["rows"] <= 4 for point in relaxed.derived.proof.points)


def test_what_a_caller_compares_is_a_condition_of_the_called(recipe_from: Maker) -> None:
    """A class that asks for nothing costs something else where its caller hands it less."""
    recipe = over_rows(recipe_from, Halving)
    inner = f"{Asking.__module__}.{Asking.__qualname__}"
    (_, relaxed) = relax(derive(recipe, FULL, [recipe.calls_as, inner], seed=1), seed=1)

    assert inner == relaxed.derived.target
    assert ["{width} <= 100"] == [c.text() for c in relaxed.conditions]


def test_condition_stays_where_the_path_beyond_it_has_several_guards(recipe_from: Maker) -> None:
    """Two guards that matter only beyond a condition would forbid more than the condition does."""
    recipe = over_rows(recipe_from, HidingTwo, rows=8)
    (relaxed,) = relax(derive(recipe, FULL, [recipe.calls_as], seed=1), seed=1)

    assert ["{rows} > 4"] == [c.text() for c in relaxed.conditions]


def test_condition_of_the_module_itself_is_kept(recipe_from: Maker) -> None:
    """What the module refuses stays a condition."""
    recipe = over_rows(recipe_from, Refusing)
    (relaxed,) = relax(derive(recipe, FULL, [recipe.calls_as], seed=1), seed=1)

    assert ["{width} % 2 == 0"] == [c.text() for c in relaxed.conditions]


def test_further_regime_begins_where_a_condition_ends(recipe_from: Maker) -> None:
    """Both ways of a branch are found and proved, and each number of rows has the cost of its way."""
    found = regimes_of(over_rows(recipe_from, Branching), seed=1, points=3, explore=True)

    assert all(one.exact for one in found)
    for rows in (1, 3, 4, 5, 50):
        sizes = {"rows": rows, "width": 6, "a_dtype_bytes": 4}
        ways = [one for one in found if all(c.holds(sizes) for c in one.conditions)]
        ops = [Expr.of(one.derived.pattern.summary.totals.pointwise_ops) for one in ways]
        assert {rows * 6 * (2 if rows > 4 else 1)} == {one.evaluate(sizes) for one in ops}


def test_both_widths_of_a_product_are_one_regime(recipe_from: Maker) -> None:
    """A linear map costs the same formula in float32 and bfloat16: one regime, proved in both."""
    (found,) = regimes_of(over_rows(recipe_from, Projection, "width"), seed=1, points=3, explore=False)

    assert ([], (FULL, LOW), True) == ([c.text() for c in found.conditions], found.dtypes, found.exact)
    assert 2 * ROWS * WIDTH * WIDTH == flops(found)


def test_norm_in_float32_has_two_regimes(recipe_from: Maker) -> None:
    """.float() costs nothing in float32 and a copy below: two regimes, told apart by the width."""
    found = regimes_of(over_rows(recipe_from, Norm, "width"), seed=1, points=3, explore=False)
    reads = [Expr.of(one.derived.pattern.summary.totals.reads) for one in found]

    wide, narrow = ["{a_dtype_bytes} == 4"], ["{a_dtype_bytes} < 4"]
    assert [("default, float32", wide), ("default, below float32", narrow)] == told(found)
    assert [(FULL,), (LOW,)] == [one.dtypes for one in found]
    assert reads[0] != reads[1] and all(one.exact for one in found)


class Thirds(nn.Module):
    """Adds a number to sixteen thirds of the rows, counted in floats of the default width."""

    def forward(self, x: Tensor) -> Tensor:
        count = torch.ceil(torch.tensor(x.shape[0]) * 16 / 3).to(torch.int64)
        return x.new_empty((count.item(), x.shape[1])) + 1  # type: ignore[arg-type]


def test_a_count_that_narrow_floats_round_is_said_of_float32_alone(recipe_from: Maker) -> None:
    """Most counts above 256 are no numbers of bfloat16: the formula stands, for activations of 4 bytes."""
    recipe = over_rows(recipe_from, Thirds, rows=400)
    found = regimes_of(recipe, seed=1, points=3, explore=False)
    sizes = {"rows": 400, "width": 5}

    assert [("default", ["{a_dtype_bytes} == 4"])] == told(found)
    assert all(one.exact for one in found)
    assert [5 * 2134] == [
        Expr.of(one.derived.pattern.summary.totals.pointwise_ops).evaluate(sizes) for one in found
    ]


def test_first_way_that_works_is_taken(recipe_from: Maker) -> None:
    """Inputs that the module refuses are passed over; if it refuses all, the first reason is raised."""
    recipe = over_rows(recipe_from, Refusing)
    odd = recipe_from(
        Refusing, lambda n: Refusing(), lambda n, maker: (maker.floats((n.rows, 3)),), rows=9, width=6
    )
    both = Recipe(odd.target, odd.library, odd.build, odd.inputs, alternatives=(recipe.inputs,))

    assert recipe.inputs is run_first(both, FULL)[0].inputs
    with pytest.raises(ValueError, match="odd"):
        run_first(odd, FULL)


@pytest.mark.parametrize(
    ("text", "opposite"),
    [("{a} == 1", "{a} != 1"), ("{a} < 2", "{a} >= 2"), ("{a} > {b}", "{a} <= {b}")],
)
def test_opposite(text: str, opposite: str) -> None:
    """The opposite of a condition holds exactly where it does not, and its opposite is the condition."""
    condition = Condition.parse(text)

    assert opposite == negated(condition).text()
    assert condition == negated(negated(condition))
