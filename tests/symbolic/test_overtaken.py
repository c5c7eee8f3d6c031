"""States that are larger than a peak are found with sizes at which they are, and nothing else is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.analyzers.symbolic.overtaken import overtaking
from forwardbook.formula import Expr

A, B, C = map(Expr.symbol, "abc")
START = {"a": 64, "b": 64, "c": 4}
STATES = st.lists(st.tuples(*(st.integers(0, 9) for _ in range(5))), min_size=1, max_size=6)


def state(numbers: tuple[int, ...]) -> Expr:
    """A sum of products of three sizes."""
    products = (A, B, A * B, B * C, A * C)
    return Expr.sum(number * product for number, product in zip(numbers, products, strict=True)) + 1


def test_a_state_is_climbed_to() -> None:
    """Smaller at the start, and the largest where one size is many times as large."""
    [(found, sizes)] = overtaking([A * C], [A * B], [START])

    assert A * C == found
    assert sizes["c"] > sizes["b"]


def test_what_is_never_larger_is_not_found() -> None:
    """Half of a state is below it everywhere."""
    assert [] == list(overtaking([A * B, A, B], [A * B * 2], [START]))


def test_sizes_that_are_held_stay() -> None:
    """With the other size held only its own can be changed."""
    [(_, sizes)] = overtaking([A * C], [A * B], [START], held=["c"])

    assert START["c"] == sizes["c"]
    assert sizes["b"] < sizes["c"]


def test_sizes_that_are_not_allowed_are_not_found() -> None:
    """Where every size stays below a bound no state is the largest that needs one above it."""
    found = overtaking([A * C], [A * B], [START], allowed=lambda sizes, name: sizes["c"] <= 16 <= sizes["b"])

    assert [] == list(found)


@settings(max_examples=60, deadline=None)
@given(STATES, STATES)
def test_whatever_is_found_is_larger(states: list[tuple[int, ...]], peak: list[tuple[int, ...]]) -> None:
    """At its sizes a state is above all that a peak names."""
    named = [state(one) for one in peak]
    for found, sizes in overtaking([state(one) for one in states], named, [START]):
        assert found.evaluate(sizes) > max(one.evaluate(sizes) for one in named)
