"""What is left of what a run asked, once every size is at least 2."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forwardbook.analyzers.derive.solve import informative, largest, printed
from forwardbook.formula import Condition, Expr, parse

SAID_BY_TWO = (
    "{a} * (1 % {b}) != 0",
    "{a} * {b} != {a}",
    "{a} * {b} >= 2",
    "max(1, {a}) == {a}",
    "{a} < {a} * {b}",
    "floor(1 / {a}) == 0",
    "{a} != 1",
)
SAYING_MORE = ("{a} <= 256", "{a} == {b}", "{a} % {b} == 0", "ceil({a} / 2) != 1", "{a} > 2")


@pytest.mark.parametrize("text", SAID_BY_TWO)
def test_what_all_sizes_from_two_on_meet_is_left_out(text: str) -> None:
    """A size of 1 is another regime; beside it such a condition says nothing."""
    assert [] == informative([Condition.parse(text)])


@pytest.mark.parametrize("text", SAYING_MORE)
def test_what_some_sizes_break_is_kept(text: str) -> None:
    """At each of these some sizes from 2 on break it."""
    one = Condition.parse(text)
    rng = random.Random(1)
    drawn = [{"a": rng.randint(2, 300), "b": rng.randint(2, 300)} for _ in range(200)] + [{"a": 2, "b": 3}]

    assert [one] == informative([one])
    assert not all(one.is_met(sizes) for sizes in drawn)


TERMS = st.sampled_from(["{a}", "{b}", "{a} * {b}", "2 * {a}", "{a} + {b}", "{b} * {b} + 1", "1", "3 * {b}"])


@given(st.lists(TERMS, min_size=1, max_size=5), st.integers(2, 90), st.integers(2, 90))
def test_the_largest_is_the_largest(texts: list[str], a: int, b: int) -> None:
    """At all sizes from 2 on it is the maximum of what was given."""
    values, sizes = [parse(text) for text in texts], {"a": a, "b": b}

    assert max(value.evaluate(sizes) for value in values) == largest(values).evaluate(sizes)


@given(TERMS, st.integers(1, 40), st.integers(1, 40), st.integers(1, 40))
def test_what_is_printed_has_the_value_of_what_is_computed(
    text: str, heads: int, head_dim: int, a: int
) -> None:
    """`width` stands for `heads * head_dim` wherever both are factors."""
    width = parse("{heads} * {head_dim}")
    value = parse(text).subs({"b": width}) * Expr.symbol("head_dim")
    sizes = {"heads": heads, "head_dim": head_dim, "a": a}

    shown = printed(value, {"width": width})

    assert value.evaluate(sizes) == shown.evaluate({**sizes, "width": heads * head_dim})
    assert "heads" not in shown.symbols()
