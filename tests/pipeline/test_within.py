"""A regime is exact where enough points of its proof meet everything that is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from torch import Tensor, nn

from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.explore import FULL, LOW, paired
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import Relaxed, relax
from forwardbook.pipeline.derivation.within import only_inside, proved_within
from forwardbook.profiling.proof import POINTS

from .matrices import WIDTH, Maker, over_rows

FEW = Condition.parse("{rows} <= 4")
MANY = Condition.parse("{rows} >= 5")


class Plain(nn.Module):
    """One matrix, whatever the rows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x)  # type: ignore[no-any-return]


@pytest.fixture
def regime(recipe_from: Maker) -> Found:
    """Proved in float32; none of its points has four rows or fewer."""
    recipe = over_rows(recipe_from, Plain, "width")
    [one] = relax(derive(recipe, FULL, [recipe.calls_as], seed=1), 2)
    points = [p for p in one.derived.proof.points if not FEW.is_met(p.sizes)]
    many = replace(one.derived, proof=replace(one.derived.proof, points=(points * POINTS)[:POINTS]))
    return Found(many, one.conditions, "default", (FULL,))


def test_a_condition_that_no_point_meets_is_proved_anew(regime: Found) -> None:
    """Points that lie outside say nothing of what is inside: others are drawn there."""
    said = replace(regime, conditions=(*regime.conditions, FEW))
    assert not said.inside(said.derived)

    [again] = proved_within([said], 3)

    assert again.exact
    assert POINTS <= len(again.inside(again.derived)) == len(again.derived.proof.points)


def test_where_no_sizes_meet_all_conditions_nothing_is_exact(regime: Found) -> None:
    """What cannot be measured is not proved, and says why."""
    said = replace(regime, conditions=(*regime.conditions, FEW, MANY))

    [again] = proved_within([said], 3)

    assert not again.exact
    assert again.derived.proof.reason


def test_a_size_that_conditions_leave_one_value_is_said_to_have_it(regime: Found) -> None:
    """Six columns at least and at most: other numbers were never met there."""
    six = tuple(Condition.parse(f"{{width}} {sign} 6") for sign in (">=", "<="))

    [again] = proved_within([replace(regime, conditions=six)], 3)

    assert again.exact
    assert "{width} == 6" in [c.text() for c in again.conditions]


def test_a_formula_that_fails_inside_its_conditions_is_refuted(regime: Found) -> None:
    """Points drawn anew are as good as the first: one that differs is told."""
    summary = regime.derived.pattern.summary
    less = replace(summary, weights=WIDTH)
    wrong = replace(regime.derived, pattern=replace(regime.derived.pattern, summary=less))

    [again] = proved_within([replace(regime, derived=wrong, conditions=(FEW,))], 3)

    assert again.derived.proof.differences


def test_without_time_only_the_points_inside_stay(regime: Found) -> None:
    """An exact regime is exact by these alone."""
    said = replace(regime, conditions=(*regime.conditions, FEW))

    assert not only_inside(said).exact
    assert only_inside(regime).exact


def test_two_widths_that_ask_what_the_other_never_met_are_two_regimes(recipe_from: Maker) -> None:
    """One formula of both would hold for nothing that was measured."""
    recipe = over_rows(recipe_from, Plain, "width")
    both = [relax(derive(recipe, kind, [recipe.calls_as], seed=1), 2)[0] for kind in (FULL, LOW)]
    full, low = (_asking(one, condition) for one, condition in zip(both, (FEW, MANY), strict=True))

    assert ["default"] == [one.label for one in paired(recipe, both[:1], both[1:])]
    assert ["default, float32", "default, below float32"] == [
        one.label for one in paired(recipe, [full], [low])
    ]


def _asking(one: Relaxed, condition: Condition) -> Relaxed:
    """With a condition more, and points that meet it."""
    rows = range(2, 5) if condition is FEW else range(9, 12)
    points = [
        replace(point, sizes={**point.sizes, "rows": number})
        for point, number in zip(one.derived.proof.points, rows, strict=False)
    ]
    derived = replace(one.derived, proof=replace(one.derived.proof, points=points))
    return replace(one, derived=derived, conditions=(*one.conditions, condition))
