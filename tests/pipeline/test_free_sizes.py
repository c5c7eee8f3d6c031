"""Sizes for a few conditions alone: what a module asks beside these is learnt from what it refuses."""

from __future__ import annotations

import random

import pytest

from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.free_sizes import FreeSizes

HINTS = {"hidden_size": 48, "num_heads": 6, "image_size": 32, "patch_size": 8, "batch_size": 2}
ASKED = Condition.parse("{hidden_size} % {num_heads} == 0")
OTHERS = [
    ASKED,
    *(Condition.parse(f"{{image_size}} % {n} == 0") for n in (2, 4, 8)),
    *(Condition.parse(f"{{patch_size}} % {n} == 0") for n in (2, 4)),
    Condition.parse("{batch_size} <= 3"),
]


@pytest.mark.parametrize("seed", range(5))
def test_what_a_module_asks_is_found_among_what_refused_sizes_broke(seed: int) -> None:
    """It asks that heads divide the width: this is learnt, and nothing that it does not ask."""
    free = FreeSizes(HINTS, [], random.Random(seed))
    kept: list[Condition] = []
    for _ in range(60):
        sizes = free.draw(kept, by_quotients=False)
        assert sizes is not None
        if ASKED.is_met(sizes):
            free.taken([c for c in OTHERS if not c.is_met(sizes)])
            kept = []
        else:
            kept += free.refused(sizes, OTHERS)

    assert {ASKED.text()} == {c.text() for c in free.asked}


def test_sizes_drawn_by_quotients_often_keep_what_divides_what() -> None:
    """At random sizes one in some six heads divides the width; by quotients every second does."""
    free = FreeSizes(HINTS, [], random.Random(3))
    drawn = [free.draw([], by_quotients=True) for _ in range(100)]
    kept = [sizes for sizes in drawn if sizes is not None and ASKED.is_met(sizes)]

    assert len(kept) > 40
    assert len({sizes["hidden_size"] // sizes["num_heads"] for sizes in kept}) > 8


def test_sizes_drawn_by_quotients_fit_the_conditions() -> None:
    """What is wanted holds; where it cannot, nothing is drawn."""
    free = FreeSizes(HINTS, [Condition.parse("{image_size} > {patch_size}")], random.Random(4))

    sizes = free.draw([ASKED], by_quotients=True)

    assert sizes is not None
    assert sizes["image_size"] > sizes["patch_size"]
    assert sizes["hidden_size"] % sizes["num_heads"] == 0
    assert free.draw([Condition.parse("{patch_size} > 1000")], by_quotients=True) is None


@pytest.mark.parametrize("seed", range(5))
def test_a_threshold_that_few_sizes_are_below_is_reached(seed: int) -> None:
    """32 channels as a multiple of a smaller divisor: 28 or fewer for 13 and 14 alone."""
    rounded = "{divisor} * floor((floor({divisor} / 2) + 32) / {divisor})"
    free = FreeSizes({"divisor": 8, "width": 48}, [], random.Random(seed))
    wanted = [Condition.parse(f"{rounded} <= 28"), Condition.parse(f"{rounded} > {{divisor}}")]

    sizes = free.draw(wanted, by_quotients=False)

    assert sizes is not None
    assert sizes["divisor"] in (13, 14)


def test_an_aim_that_nothing_fits_is_searched_for_twice() -> None:
    """What no rule sees to be impossible costs two searches one by one, from sizes that are drawn once."""
    free = FreeSizes({"width": 48, "heads": 6}, [], random.Random(5))
    never = Condition.parse("{width} % {heads} == {heads}")
    kept = Condition.parse("{width} > {heads}")

    found = [free.draw([never, kept], by_quotients=False) for _ in range(5)]

    assert found == [None] * 5
    assert free.in_vain == {never: 2}
    assert list(free.bases) == [(kept,)]
