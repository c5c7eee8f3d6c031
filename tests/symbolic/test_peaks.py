"""The states that may be the peak: dropping the others changes the maximum nowhere."""

from __future__ import annotations

import math
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.analyzers.symbolic.climbing import Together
from forwardbook.analyzers.symbolic.peaks import PROVABLE, contenders
from forwardbook.formula import Expr

NAMES = ("a", "b", "c")
HINTS = {"a": 5, "b": 7, "c": 3}
TERMS = st.tuples(st.integers(1, 4), *(st.integers(0, 2) for _ in NAMES))
STATES = st.lists(st.lists(TERMS, min_size=1, max_size=3), min_size=1, max_size=PROVABLE)
POINTS = st.fixed_dictionaries({name: st.integers(1, 60) for name in NAMES})


def state(terms: list[tuple[int, ...]]) -> Expr:
    """A sum of products with positive coefficients."""
    total = Expr.const(0)
    for coefficient, *powers in terms:
        term = Expr.const(coefficient)
        for name, power in zip(NAMES, powers, strict=True):
            term = term * Expr.symbol(name) ** power
        total = total + term
    return total


@settings(max_examples=60, deadline=None)
@given(STATES, st.lists(POINTS, min_size=1, max_size=8))
def test_contenders_have_the_maximum_everywhere(
    terms: list[list[tuple[int, ...]]], points: list[dict[str, int]]
) -> None:
    """At every size the maximum of the contenders is the maximum of all states."""
    states = [state(one) for one in terms]
    kept = contenders(states, HINTS)

    assert set(kept) <= set(states)
    for point in points:
        assert max(s.evaluate(point) for s in states) == max(s.evaluate(point) for s in kept)


def test_of_many_states_the_winners_stay() -> None:
    """Of more states than can be compared in pairs, those that win somewhere are kept, a few only."""
    a, b = Expr.symbol("a"), Expr.symbol("b")
    losers = [a * n + b for n in range(1, 40)]
    kept = contenders([*losers, a * 100 + b, a + b * 50], HINTS)

    assert {a * 100 + b, a + b * 50} == set(kept)


def test_equal_states_are_one() -> None:
    """The same state twice is one."""
    a = Expr.symbol("a")

    assert [a + 1] == contenders([a + 1, a + 1], HINTS)


def test_a_state_that_is_largest_beyond_float32_alone_stays() -> None:
    """Of many states the one in the activations' width stays beside a like one in the 4 bytes of float32."""
    rows, width = Expr.symbol("rows"), Expr.symbol("a_dtype_bytes")
    single, own = 4 * rows + 2, width * rows + 1
    small = [Expr.const(number) + rows for number in range(1, PROVABLE + 4)]

    kept = contenders([single, own, *small], {"rows": 40, "a_dtype_bytes": 4})

    assert {single, own} <= set(kept)


def test_a_state_that_is_largest_where_all_sizes_are_alike_stays() -> None:
    """An eighth of a sum of 16 is larger than each of them where nine or more are alike: few draws are so."""
    names = [f"n{i}" for i in range(16)]
    each = [8 * Expr.symbol(name) for name in names]
    together = sum((Expr.symbol(name) for name in names), Expr.const(0))

    kept = contenders([*each, together], {name: 4 ** (i % 8) for i, name in enumerate(names)})

    assert together in kept


def test_a_state_that_one_start_alone_leads_to_stays() -> None:
    """Climbed for from where it comes nearest it is no larger; from one of the next it is."""
    rng = random.Random(1)
    names = "abcdef"
    states = [
        Expr.sum(
            math.prod(map(Expr.symbol, rng.sample(names, rng.randint(1, 3))), start=Expr.const(number))
            for number in (rng.randint(1, 9) for _ in range(3))
        )
        for _ in range(18)
    ]
    kept = contenders(states, dict(zip(names, (8, 16, 4, 32, 12, 20), strict=True)))
    there = {"a": 1, "b": 1, "c": 6, "d": 9, "e": 1, "f": 9}

    assert 846 == max(one.evaluate(there) for one in states)
    assert 846 == max(one.evaluate(there) for one in kept)


@settings(max_examples=60, deadline=None)
@given(STATES, st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 60)), max_size=5))
def test_states_are_what_they_are_after_any_one_size_has_changed(
    terms: list[list[tuple[int, ...]]], changes: list[tuple[str, int]]
) -> None:
    """What is kept from sizes before gives the numbers of each state's own formula, divisions included."""
    parts = [state(one) for one in terms]
    states = [*parts, *(part // Expr.symbol("b") for part in parts)]
    sizes = {name: np.array([HINTS[name], 1, 4]) for name in NAMES}
    together = Together(states)
    together.at(sizes, 3)
    for name, value in changes:
        sizes = {**sizes, name: np.array([value, 2, value + 1])}
        found = together.at(sizes, 3, name)
        for column in range(3):
            point = {one: int(row[column]) for one, row in sizes.items()}
            assert [one.evaluate(point) for one in states] == found[:, column].tolist()


def test_a_state_that_wins_where_one_size_dwarfs_all_others_is_kept() -> None:
    """Logits of very many labels for one row, beside many states of layers with four sizes each."""
    rows, width, inner, heads, labels = map(Expr.symbol, ("rows", "width", "inner", "heads", "labels"))
    layers = [rows * (width * k + inner * 7 * k + heads * width * k * 9) for k in range(1, PROVABLE + 2)]
    logits = rows + width + labels
    hints = {"rows": 17, "width": 768, "inner": 3072, "heads": 12, "labels": 2}

    assert logits in contenders([*layers, logits], hints)
