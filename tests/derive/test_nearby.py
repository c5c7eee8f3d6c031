"""Sizes at which one condition is broken and others hold; conditions that exclude each other."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forwardbook.formula import Condition
from forwardbook.formula.condition import COMPARISONS, excludes, negated
from forwardbook.pipeline.composed.nearby import breaking


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("{kernel} <= {width}", ["{width} >= 2"]),
        ("{width} % {kernel} == 0", ["{kernel} >= 3"]),
        ("{width} <= 64", ["{width} >= {kernel}"]),
    ],
)
def test_a_condition_is_broken_and_the_others_are_kept(text: str, others: list[str]) -> None:
    """What is fixed stays."""
    condition, kept = Condition.parse(text), [Condition.parse(one) for one in others]
    found = list(breaking(condition, kept, {"kernel": 3, "width": 30, "n": 5}, {"n": 1}, random.Random(1)))

    assert found
    for sizes in found:
        assert not condition.is_met(sizes)
        assert all(one.is_met(sizes) for one in kept)
        assert 1 == sizes["n"]


def test_what_others_imply_is_not_broken() -> None:
    """There are no such sizes."""
    condition, other = Condition.parse("{n} >= 2"), Condition.parse("{n} >= 4")

    assert [] == list(breaking(condition, [other], {"n": 5}, {}, random.Random(1)))


OPS = st.sampled_from(sorted(COMPARISONS))


@given(OPS, st.integers(0, 5), OPS, st.integers(0, 5))
def test_conditions_exclude_each_other_where_no_number_meets_both(a: str, m: int, b: str, n: int) -> None:
    """Held against every size in reach."""
    one, other = Condition.parse(f"{{x}} {a} {m}"), Condition.parse(f"{{x}} {b} {n}")
    met = [x for x in range(10) if one.is_met({"x": x}) and other.is_met({"x": x})]

    assert excludes(one, other) == (not met)


@given(OPS, st.integers(0, 5), st.integers(0, 5))
def test_a_negated_condition_holds_where_it_does_not(op: str, bound: int, x: int) -> None:
    """At every number one of the two."""
    one = Condition.parse(f"{{x}} {op} {bound}")

    assert one.is_met({"x": x}) != negated(one).is_met({"x": x})
