"""What is said to be impossible no sizes satisfy, and the contradictions that occur are found."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.formula import Condition
from forwardbook.profiling.impossible import is_impossible

HINTS = {"hidden": 12, "heads": 3, "rows": 5, "padding": 0}
EXPRESSIONS = (
    "{hidden}", "{heads}", "{rows}", "{padding}", "1", "2", "{hidden} // {heads}", "{rows} + {padding}",
    "{heads} * floor({hidden} / {heads})", "max(1, {hidden} // {heads})", "{heads} * max(1, {rows})",
    "{rows} * {heads}", "{hidden} % {heads}", "{rows} % 2", "min({rows}, {hidden})", "2 * {heads}",
)  # fmt: skip
comparisons = st.builds(
    lambda left, op, right: Condition.parse(f"{left} {op} {right}"),
    st.sampled_from(EXPRESSIONS), st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
    st.sampled_from(EXPRESSIONS),
)  # fmt: skip
DIVIDES = Condition.parse("{hidden} % {heads} == 0")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(comparisons, min_size=1, max_size=4),
    st.booleans(),
    st.dictionaries(st.sampled_from(sorted(HINTS)), st.integers(0, 4), max_size=2),
)
def test_no_sizes_satisfy_what_is_impossible(
    conditions: list[Condition], divides: bool, fixed: dict[str, int]
) -> None:
    """Of all small sizes none satisfies conditions that are said to contradict each other."""
    conditions = [*conditions, *([DIVIDES] if divides else [])]
    if not is_impossible(HINTS, conditions, fixed):
        return
    free = {name: range(1 if hint else 0, 9) for name, hint in HINTS.items()}
    choices = [[fixed[name]] if name in fixed else values for name, values in free.items()]
    for sizes in itertools.product(*choices):
        point = dict(zip(HINTS, sizes, strict=True))
        assert not all(condition.is_met(point) for condition in conditions), point


@pytest.mark.parametrize(
    "texts, fixed",
    [
        (["{rows} > {heads}", "{rows} < {heads}"], {}),
        (["{rows} <= 1", "{rows} > 1"], {}),
        (["{heads} <= 1", "{heads} % {hidden} != 0", "{heads} != 1"], {"heads": 1}),
        (["max(1, {hidden} // {heads}) * max(1, {heads}) != {hidden}", "{hidden} % {heads} == 0"], {}),
        (["{heads} == {hidden}", "{hidden} % {heads} == 0", "1 < {hidden} // {heads}"], {}),
        (["{heads} * floor({hidden} / {heads}) == 0", "{hidden} % {heads} == 0"], {}),
    ],
)
def test_contradictions_are_found(texts: list[str], fixed: dict[str, int]) -> None:
    """Two inequalities, a size that is held, and roundings that cancel under divisibility."""
    assert is_impossible(HINTS, [Condition.parse(text) for text in texts], fixed)


@pytest.mark.parametrize("texts", [["{padding} <= 0"], ["{padding} < 1", "{rows} + {padding} <= {rows}"]])
def test_a_size_with_a_hint_of_zero_may_be_zero(texts: list[str]) -> None:
    """A padding is none in most calls: that it is at least 1 is never taken for granted."""
    assert not is_impossible(HINTS, [Condition.parse(text) for text in texts])


def test_what_may_be_is_not_impossible() -> None:
    """Conditions that other sizes than the hints satisfy are left to the search."""
    assert not is_impossible(HINTS, [Condition.parse("{rows} > 5"), Condition.parse("{heads} == {rows}")])
