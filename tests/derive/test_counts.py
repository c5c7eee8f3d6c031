"""How a cost grows with how often something is repeated."""

from __future__ import annotations

import pytest

from forwardbook.analyzers.derive.breakdown import Breakdown, Callee, CallGroup
from forwardbook.analyzers.derive.counts import NotLinear, grown_like, over_counts
from forwardbook.analyzers.derive.own import OwnCost
from forwardbook.formula import Condition, Expr, parse
from forwardbook.pipeline.composed.drafts import pins

HINTS = {"depth": 2}


def at(depth: int, squared: bool = False) -> Breakdown:
    """What a model of so many layers would show: a sum over layers, and what lives grows with each."""
    flops = parse("{rows}") * (depth * depth if squared else depth)
    states = (parse("{rows}"), parse("{rows} * {width}") * depth)
    callee = Callee("x.Layer~0", {"rows": parse("{rows}"), "place": Expr.const(depth + 5)})
    call = CallGroup(7, "layers.*", callee, Expr.const(depth), parse("{rows}") * (depth - 1))
    return Breakdown(OwnCost({"flops": flops}, states, ()), (call,))


def test_what_grows_by_the_same_each_time_is_a_line() -> None:
    """Amounts, states, times, live bytes and bindings alike."""
    grown = over_counts(at(2), {"depth": (at(3), at(4))}, HINTS)
    [call] = grown.calls

    assert parse("{rows} * {depth}") == grown.own.amounts["flops"]
    assert (parse("{rows}"), parse("{rows} * {width} * {depth}")) == grown.own.states
    assert (parse("{depth}"), parse("{rows} * ({depth} - 1)")) == (call.times, call.live)
    assert parse("{depth} + 5") == call.callee.bindings["place"]


def test_what_grows_otherwise_is_refused() -> None:
    """Two steps of different height are no line."""
    with pytest.raises(NotLinear):
        over_counts(at(2, squared=True), {"depth": (at(3, squared=True), at(4, squared=True))}, HINTS)


def test_other_calls_at_another_count_are_refused() -> None:
    """A call that is not made at all counts has no number of times."""
    without = Breakdown(at(3).own, ())

    with pytest.raises(NotLinear):
        over_counts(at(2), {"depth": (without, at(4))}, HINTS)


def test_a_region_grows_with_layers_as_the_general_draft_does() -> None:
    """A run at one count and the growth of another draft make a line; where they have other calls, none."""
    general = over_counts(at(2), {"depth": (at(3), at(4))}, HINTS)
    region = Breakdown(OwnCost({"flops": parse("7")}, at(2).own.states, ()), at(2).calls)
    grown = grown_like(region, at(2), general, general, {"rows": 1})

    assert grown is not None
    [call] = grown.calls
    assert parse("7 + {depth} - 2") == grown.own.amounts["flops"]
    assert parse("{depth}") == call.times
    assert grown_like(Breakdown(at(2).own, ()), at(2), general, general, {}) is None


@pytest.mark.parametrize(
    ("condition", "is_pin"),
    [
        ("{depth} == 2", True),
        ("2 == {depth} + 1", True),
        ("{kernel} % 2 == 0", False),
        ("floor({kernel} / 2) == 4", False),
        ("{depth} >= 2", False),
        ("{depth} == {width}", False),
    ],
)
def test_a_pin_says_that_one_name_is_a_number(condition: str, is_pin: bool) -> None:
    """That a kernel is even leaves it free."""
    assert is_pin == pins(Condition.parse(condition))
