"""What is proved for all sizes is true at the fixed assignments; what is false at one of them is not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.formula import Condition, Expr, parse
from forwardbook.formula.expr import Known
from forwardbook.formula.trials import may_reach, tried

from .growing import expressions

NAMES = ("a", "b", "kv_len")
grown = expressions(NAMES, 8)
points = st.fixed_dictionaries({name: st.integers(1, 99) for name in NAMES})


@settings(max_examples=400, deadline=None)
@given(grown, grown)
def test_what_is_proved_is_never_refuted(left: Expr, right: Expr) -> None:
    """An inequality that has a proof holds at every assignment that is tried."""
    if left.at_least(right):
        assert may_reach(tried(left), tried(right))


def test_what_is_false_far_out_is_refuted() -> None:
    """A product is no smaller than a sum at small sizes only: sizes of several magnitudes are tried."""
    assert not may_reach(tried(parse("100 * {a}")), tried(parse("{a} * {b}")))
    assert may_reach(tried(parse("{a} * {b}")), tried(parse("{a}")))
    assert not may_reach(tried(parse("{a}")), tried(parse("{a}")), more=1)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(grown, st.sampled_from(["==", "<", ">="]), grown), min_size=2, max_size=4), points)
def test_conditions_that_share_what_was_evaluated_hold_as_before(
    parts: list[tuple[Expr, str, Expr]], point: dict[str, int]
) -> None:
    """At one place each condition is met, or not, whatever others were asked there first."""
    known: Known = {}
    conditions = [Condition(*part) for part in parts]

    assert [c.is_met(point) for c in conditions] == [c.is_met(point, known) for c in conditions]
