"""What conditions say of a size that is 1."""

from __future__ import annotations

import pytest

from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.ones import excludes_one, is_at_one


@pytest.mark.parametrize(
    ("said", "excluded"),
    [("{width} % 2 == 0", True), ("{width} % 1 == 0", False), ("{height} % 2 == 0", False)],
)
def test_a_size_said_to_be_even_is_not_1(said: str, excluded: bool) -> None:
    assert excludes_one(Condition.parse("{width} > 1"), [Condition.parse(said)]) is excluded


def test_what_is_said_of_one_size_excludes_nothing_of_a_quotient_of_two() -> None:
    said = [Condition.parse("{width} % 2 == 0"), Condition.parse("{width} // {heads} != 1")]
    assert not excludes_one(Condition.parse("{width} // {heads} > 1"), said)


@pytest.mark.parametrize(
    ("held", "is_one"), [("{rows} == 1", True), ("{width} == 1", False), ("{rows} == 2", False)]
)
def test_where_a_size_is_held_at_1_nobody_asks_whether_it_is_above(held: str, is_one: bool) -> None:
    assert is_at_one(Condition.parse("{rows} > 1"), [Condition.parse(held)]) is is_one
