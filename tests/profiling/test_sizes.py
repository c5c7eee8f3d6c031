"""Random sizes satisfy every condition, and no two are alike where that can be."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.formula import Condition
from forwardbook.profiling.sizes import LARGEST, draw

HINTS = {"hidden": 64, "heads": 4, "kv_heads": 2, "rows": 16, "window": 7}
PLAUSIBLE = (
    "{hidden} % {heads} == 0",
    "{heads} % {kv_heads} == 0",
    "{rows} > {window}",
    "{window} % 2 == 1",
    "{hidden} // {heads} % 2 == 0",
    "{rows} + {window} <= 60",
    "{heads} != {kv_heads}",
    "{hidden} == 8 * {heads}",
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PLAUSIBLE), unique=True), st.integers(0, 10**6))
def test_every_condition_holds(texts: list[str], seed: int) -> None:
    """Whatever is asked for together, what is drawn satisfies it, at sizes of at least 1."""
    conditions = [Condition.parse(text) for text in texts]
    sizes = draw(HINTS, conditions, random.Random(seed))
    assert sizes is not None

    assert HINTS.keys() == sizes.keys()
    assert all(condition.holds(sizes) for condition in conditions)
    assert all(1 <= size <= 2 * LARGEST for size in sizes.values())


@pytest.mark.parametrize("seed", range(20))
def test_sizes_do_not_coincide(seed: int) -> None:
    """Free sizes are all different: none stands for another in a formula."""
    sizes = draw(HINTS, [Condition.parse("{hidden} % {heads} == 0")], random.Random(seed))
    assert sizes is not None

    assert len(sizes) == len(set(sizes.values()))


def test_sizes_coincide_where_they_must() -> None:
    """A condition that makes two sizes equal is met."""
    sizes = draw(HINTS, [Condition.parse("{heads} == {kv_heads}")], random.Random(0))
    assert sizes is not None

    assert sizes["heads"] == sizes["kv_heads"]


def test_fixed_sizes_are_kept() -> None:
    """A size that is held stays, and the others adapt to it."""
    sizes = draw(HINTS, [Condition.parse("{hidden} % {heads} == 0")], random.Random(0), {"heads": 6})
    assert sizes is not None

    assert (6, 0) == (sizes["heads"], sizes["hidden"] % 6)


def test_contradiction_draws_nothing() -> None:
    """Where no sizes satisfy the conditions the answer is None."""
    impossible = [Condition.parse("{rows} > {window}"), Condition.parse("{rows} < {window}")]

    assert draw(HINTS, impossible, random.Random(0), attempts=4) is None


@pytest.mark.parametrize(
    ("text", "seed"),
    [
        (text, seed)
        for seed in range(5)
        for text in (
            "floor({rows} * {rows} / {window}) > 90000",
            "{hidden} * {hidden} + {hidden} < 700",
            "floor((floor(({rows} - {window}) / {heads}) - {window}) / {heads}) + 1 >= 40",
            "{hidden} % 5 >= 3",
        )
    ],
)
def test_inequalities_far_from_the_hints_are_met(text: str, seed: int) -> None:
    """Products, remainders and chains of roundings begin to hold at sizes that are found."""
    condition = Condition.parse(text)
    found = draw(HINTS, [condition], random.Random(seed), attempts=3)

    assert found is not None
    assert condition.holds(found)


def test_a_chain_of_convolutions_is_drawn_in_one_attempt() -> None:
    """Seven strided convolutions in a row get as many samples as they take, whatever strides and kernels."""
    hints = {"samples": 16000}
    length = "{samples}"
    texts = []
    for layer in range(7):
        hints |= {f"kernel.{layer}": 3, f"stride.{layer}": 2}
        texts.append(f"{length} >= {{kernel.{layer}}}")
        length = f"(floor(({length} - {{kernel.{layer}}}) / {{stride.{layer}}}) + 1)"
    conditions = [Condition.parse(text) for text in (*texts, f"{length} > 1")]

    for seed in range(20):
        found = draw(hints, conditions, random.Random(seed), attempts=1)

        assert found is not None
        assert all(condition.holds(found) for condition in conditions)
