"""Bisection: the largest number that fits, against trying each."""

from hypothesis import given
from hypothesis import strategies as st

from forwardbook.models.advice import largest


@given(st.integers(-3, 300), st.integers(1, 300), st.integers(1, 5))
def test_largest_is_what_trying_each_finds(limit: int, most: int, least: int) -> None:
    """For any limit below, between or above the ends."""
    expected = max((n for n in range(least, max(most, least) + 1) if n <= limit), default=0)
    assert expected == largest(lambda n: n <= limit, max(most, least), least)
