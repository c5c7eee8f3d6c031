"""A proof holds a formula at smaller counts than it was interpolated from: all at once, and each alone."""

from __future__ import annotations

import random

from forwardbook.profiling.fewer import Fewer


def test_all_are_smaller_at_once_and_then_each_alone() -> None:
    """What one small count hides shows where only the other is small: two layers, and half of a width."""
    fewer = Fewer({"layers": 3, "width": 40}, random.Random(5))

    asked = [fewer.asked() for _ in range(3)]

    assert [{"layers", "width"}, {"layers"}, {"width"}] == [set(one) for one in asked]
    assert all(20 <= one.get("width", 20) < 40 and one.get("layers", 2) == 2 for one in asked)


def test_one_layer_of_each_comes_last() -> None:
    """What two layers leave behind one may not: nothing came before it. A width is no number of layers."""
    fewer = Fewer({"layers": 3, "width": 40, "blocks": 2}, random.Random(5))

    asked = [fewer.asked() for _ in range(len(fewer))]

    assert asked[-1] == {"layers": 1}
    assert {} == fewer.asked()


def test_one_count_is_tried_once_and_a_single_layer_is_never_none() -> None:
    """There is no smaller count than one."""
    fewer = Fewer({"layers": 2, "one": 1}, random.Random(5))

    assert [{"layers": 1}, {}] == [fewer.asked(), fewer.asked()]
