"""Regimes of small modules: which conditions stay, where the next regime begins, what float width changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic import loops
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation import relax as relaxing
from forwardbook.pipeline.derivation.explore import FULL, LOW, Found, regimes_of
from forwardbook.pipeline.derivation.regimes import (
    Favoured,
    derive,
    negated,
    over_counts,
    pins,
    run_first,
)
from forwardbook.pipeline.derivation.relax import Learnt, relax

ROWS, WIDTH, BYTES = Expr.symbol("rows"), Expr.symbol("width"), Expr.symbol("a_dtype_bytes")


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
    """Asks for the width only where there are few rows."""

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] <= 4 and x.shape[1] > 100:
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


class Growing(nn.Module):
    """Repeats its rows as often as a float says; scales them by another."""

    def __init__(self, times: int, heads: int) -> None:
        super().__init__()
        self.times, self.scale = float(times), float(heads) ** -0.5

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(x[None, None] * self.scale, scale_factor=(self.times, 1.0))


class Projection(nn.Module):
    """One product."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, width))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight)


class Stack(nn.Module):
    """A number of projections."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Projection(width) for _ in range(layers)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


Maker = Callable[..., Recipe]


def over_rows(recipe_from: Maker, kind: type[nn.Module], *arguments: str, **sizes: int) -> Recipe:
    """A module over a matrix; `arguments` are sizes that its constructor takes."""
    hints = {"rows": 9, "width": 6, **sizes}
    return recipe_from(
        kind,
        lambda n: kind(*(getattr(n, name) for name in arguments)),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        **hints,
    )


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
    [again] = over_counts(found, seed=1, favoured={("layers",): ({"layers": 4}, 1)})

    assert first.exact and again.exact
    assert {("layers",): ({"layers": 2}, 1)} == favoured
    assert asked > len(runs) - asked > 0
    assert Expr.of(first.pattern.summary.totals.flops) == Expr.of(again.pattern.summary.totals.flops)


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

    assert ["{width} <= 100"] == [c.text() for c in relaxed.conditions]
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


def test_number_of_layers_is_free_again(recipe_from: Maker) -> None:
    """A loop over layers is interpolated over and proved; the layer itself is one pattern of all layers."""
    recipe = over_rows(recipe_from, Stack, "width", "layers", layers=3)
    inner = f"{Projection.__module__}.{Projection.__qualname__}"
    stack, layer = derive(recipe, FULL, [recipe.calls_as, inner], seed=1)

    assert (("layers",), True, True) == (stack.interpolated, stack.exact, layer.exact)
    assert 2 * Expr.symbol("layers") * ROWS * WIDTH * WIDTH == stack.pattern.summary.totals.flops
    assert ("layers.0", "layers.1", "layers.2") == layer.pattern.paths


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
    ("text", "pinned"),
    [("{rows} == 9", True), ("{rows} > 4", False), ("{rows} % 3 == 0", False), ("{rows} == {width}", False)],
)
def test_size_is_pinned_by_an_equality(text: str, pinned: bool) -> None:
    """A size is pinned where conditions on it alone hold nowhere near."""
    assert pinned is pins([Condition.parse(text)], "rows", {"rows": 9, "width": 9})


@pytest.mark.parametrize(
    ("text", "opposite"),
    [("{a} == 1", "{a} != 1"), ("{a} < 2", "{a} >= 2"), ("{a} > {b}", "{a} <= {b}")],
)
def test_opposite(text: str, opposite: str) -> None:
    """The opposite of a condition holds exactly where it does not, and its opposite is the condition."""
    condition = Condition.parse(text)

    assert opposite == negated(condition).text()
    assert condition == negated(negated(condition))


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


def test_a_count_that_never_changed_is_a_condition(recipe_from: Maker) -> None:
    """What became a number, and was the same wherever formulas held, is said though they do not name it."""
    recipe = over_rows(recipe_from, Columns, "width", "layers", layers=3)
    held = (Condition.parse("{width} == 6"),)
    [one] = derive(recipe, FULL, [recipe.calls_as], seed=1, held=held)

    assert (("layers",), True) == (one.interpolated, one.exact)
    assert "{width} == 6" in [c.text() for c in one.pattern.conditions]
