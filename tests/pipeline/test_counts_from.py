"""A formula that was made of many layers says from how few it holds."""

from __future__ import annotations

from torch import Tensor, nn

from forwardbook.pipeline.derivation.explore import FULL
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import relax

from .matrices import Maker, Stack, over_rows


class Feedforward(nn.Module):
    """Three matrices are alive at once only where there is a layer between the first and the last."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(width, width), nn.Linear(width, 1)
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth - 2)])

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x).relu()
        for layer in self.layers:
            x = layer(x).relu()
        return self.last(x)  # type: ignore[no-any-return]


def test_a_formula_says_the_least_number_of_layers_from_which_it_holds(recipe_from: Maker) -> None:
    """Of two layers a state is not there that three and more have; no test drops that."""
    recipe = over_rows(recipe_from, Feedforward, "width", "depth", depth=2)

    found = relax(derive(recipe, FULL, [recipe.calls_as], seed=1), 2)

    said = [c.text() for one in found for c in one.conditions if "depth" in c.text()]
    assert ["{depth} >= 3"] == said
    [peak] = {one.derived.pattern.summary.quantities()["peak"] for one in found}
    sizes = {"rows": 7, "width": 5, "depth": 4, "a_dtype_bytes": 4, "w_dtype_bytes": 4}
    assert 3 * 7 * 5 * 4 == peak.evaluate(sizes)  # type: ignore[union-attr]


class Several(Stack):
    """Layers, of which there must be two; all but the first two are there twice."""

    def __init__(self, width: int, depth: int) -> None:
        if depth < 2:
            raise ValueError("two layers are needed")
        super().__init__(width, depth + depth - 2)


def test_a_count_of_which_a_single_one_was_never_run_is_more_than_one(recipe_from: Maker) -> None:
    """The module refuses a single layer: what the formula gives there nobody measured."""
    recipe = over_rows(recipe_from, Several, "width", "depth", depth=3)

    [found] = relax(derive(recipe, FULL, [recipe.calls_as], seed=1), 2)

    assert found.derived.exact
    assert [c for c in found.conditions if c.symbols() == {"depth"}]
    assert not all(c.is_met({"depth": 1}) for c in found.conditions if c.symbols() == {"depth"})


class Widening(Feedforward):
    """Its last matrix may be wider than the two before it together: then that is the peak."""

    def __init__(self, width: int, out: int, depth: int) -> None:
        super().__init__(width, depth)
        self.last = nn.Linear(width, out)


def test_a_state_that_another_hides_at_some_sizes_is_not_missed(recipe_from: Maker) -> None:
    """Where the last matrix is the peak two layers are as many: a run where it is not tells them apart."""
    recipe = over_rows(recipe_from, Widening, "width", "out", "depth", out=64, depth=2)

    for seed in range(6):
        found = relax(derive(recipe, FULL, [recipe.calls_as], seed=seed), 2)

        assert ["{depth} >= 3"] == [c.text() for one in found for c in one.conditions if "depth" in c.text()]
