"""One run of a model gives the records of every class in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.formula import Expr, parse
from forwardbook.pipeline.derivation import tree
from forwardbook.pipeline.derivation.entry import notes_of
from forwardbook.pipeline.derivation.tree import derive_tree, entries

LINEAR, NORM = "torch.nn.modules.linear.Linear", "torch.nn.modules.normalization.LayerNorm"


class Model(nn.Module):
    """Two layers of torch around a norm; a scenario may refuse to run."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(width, width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.last(self.norm(self.first(x)))
        return out


def refusing(*args: object) -> tuple[object, ...]:
    """Inputs that cannot be made."""
    raise ValueError("no such input")


@pytest.fixture
def scenarios(recipe_from: Callable[..., Recipe], monkeypatch: pytest.MonkeyPatch) -> list[Recipe]:
    """A scenario that runs and one that does not."""
    good = recipe_from(
        Model, lambda n: Model(n.width), lambda n, maker: (maker.floats((n.rows, n.width)),), rows=6, width=8
    )
    bad = recipe_from(Model, lambda n: Model(n.width), refusing, width=8)
    object.__setattr__(bad, "scenario", "bad")
    monkeypatch.setattr(tree, "recipes_for", lambda root, options: [good, bad])
    return [good, bad]


def test_every_called_class_is_derived(scenarios: list[Recipe]) -> None:
    """Each class that the model calls has its regimes, proved; a scenario that fails is told."""
    said: list[str] = []
    found = derive_tree(scenarios[0].target, seed=1, explore=False, told=said.append)

    assert {scenarios[0].target, LINEAR, NORM} == set(found.found)
    assert all(one.exact for regimes in found.found.values() for one in regimes)
    assert ({"bad": "ValueError"}, ["default", "bad"]) == (found.failed, said)


def test_equal_calls_are_one_regime(scenarios: list[Recipe]) -> None:
    """The two projections of one shape are one regime of their class."""
    found = derive_tree(scenarios[0].target, seed=1, explore=False, wanted=lambda name: name == LINEAR)
    ((linear,),) = found.found.values()
    rows, width = Expr.symbol("rows"), Expr.symbol("width")

    assert ("first", "last") == linear.derived.pattern.paths
    assert 2 * rows * width * width == linear.derived.pattern.summary.totals.flops
    assert {"rows": 6, "width": 8} == {name: note.hint for name, note in notes_of([linear]).items()}


def test_classes_with_source_have_records(scenarios: list[Recipe]) -> None:
    """Classes of torch become records whose lines add up; one without importable source is left out."""
    made = entries(derive_tree(scenarios[0].target, seed=1, explore=False).found)

    assert {LINEAR, NORM} == set(made)
    for entry in made.values():
        (regime,) = entry.regimes
        lines = Expr.sum(parse(line.flops, exact=True) for line in regime.flop_analysis.lines)
        assert parse(regime.flop_analysis.flops, exact=True) == lines
        assert "exact" == entry.validation.verdict
