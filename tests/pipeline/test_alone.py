"""A formula and what others say: what it fails without is kept, and nothing that is not needed for it."""

from __future__ import annotations

import random

from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.alone import Alone, Search, is_implied
from forwardbook.pipeline.derivation.free_sizes import FreeSizes

HINTS = {"image_size": 32, "patch_size": 8, "num_heads": 6, "batch_size": 2, "factor": 8}
EVEN, SEVERAL, HEADS, FACTOR = (
    Condition.parse(text)
    for text in ("{image_size} % 2 == 0", "{batch_size} > 1", "{num_heads} > 1", "{factor} <= 15")
)
OTHERS = [EVEN, SEVERAL, HEADS, FACTOR]



def searched(one: Alone, needs: list[Condition], seed: int = 1) -> None:
    """All draws of a search for a formula that holds where these do."""
    search = Search([one], FreeSizes(HINTS, [], random.Random(seed)), draws=140)
    while (sizes := search.sizes()) is not None:
        search.taken(sizes)
        broken = one.broken(sizes)
        if not all(c.is_met(sizes) for c in (*one.own, *one.more)):
            continue
        if all(c.is_met(sizes) for c in needs):
            one.has_held(broken, sizes)
        else:
            one.fails(sizes, broken)


def test_what_a_formula_fails_without_is_found() -> None:
    """Among four conditions of others that of the number of layers within one octave."""
    one = Alone([], list(OTHERS))
    searched(one, [FACTOR])

    assert [FACTOR.text()] == [c.text() for c in one.needed()]


def test_of_several_suspects_each_is_broken_alone() -> None:
    """The plainest is tried first and is not why it fails; the next one is."""
    one = Alone([], list(OTHERS))
    one.fails({**HINTS, "num_heads": 1, "batch_size": 1}, [SEVERAL, HEADS])
    first = one.trial()
    one.has_held([HEADS], {**HINTS, "num_heads": 1})
    second = one.trial()

    assert first is not None
    assert ["{num_heads} <= 1", SEVERAL.text()] == [c.text() for c in first]
    assert second is None  # only one suspect is left
    assert [SEVERAL.text()] == [c.text() for c in one.needed()]


def test_a_condition_that_keeps_from_no_failure_is_not_needed() -> None:
    """Where no trial decides, the plainest suspect is added; what follows excludes both failures."""
    one = Alone([], list(OTHERS))
    one.fails({**HINTS, "num_heads": 1, "batch_size": 1}, [SEVERAL, HEADS])
    while one.trial() is not None:
        pass
    one.fails({**HINTS, "batch_size": 1}, [SEVERAL])

    assert [HEADS.text(), SEVERAL.text()] == [c.text() for c in one.more]
    assert [SEVERAL.text()] == [c.text() for c in one.needed()]


def test_what_was_broken_where_it_held_is_not_suspected() -> None:
    """It held with one head: the batch of one is why it fails."""
    one = Alone([], list(OTHERS))
    one.has_held([HEADS], {**HINTS, "num_heads": 1})
    one.fails({**HINTS, "num_heads": 1, "batch_size": 1}, [SEVERAL, HEADS])

    assert [SEVERAL.text()] == [c.text() for c in one.needed()]


def test_at_the_border_of_two_sizes_nothing_is_learnt_of_either() -> None:
    """`max(a, b)` is the same where they are equal: that it held there does not acquit it."""
    larger = Condition.parse("{image_size} > {patch_size}")
    one = Alone([], [larger, HEADS])
    one.has_held([larger, HEADS], {**HINTS, "image_size": 8, "num_heads": 1})

    assert [larger] == one.untried()
    one.has_held([larger], {**HINTS, "image_size": 7})
    assert [] == one.untried()


def test_a_search_without_conditions_of_others_still_draws_nothing_by_aim() -> None:
    """Free draws end, and there is nothing to break."""
    one = Alone([EVEN], [])
    searched(one, [])

    assert [] == one.needed()


def test_what_a_formula_cannot_see_broken_is_implied() -> None:
    """Two of a divisor, or more, in 32 leave it at most 21: above 30 it is never, at 14 it may be."""
    texts = ("floor((floor({divisor} / 2) + 32) / {divisor}) >= 2", "{width} > 1")
    own = [Condition.parse(text) for text in texts]

    assert is_implied(Condition.parse("{divisor} <= 30"), own)
    assert not is_implied(Condition.parse("{divisor} <= 13"), own)
    assert not is_implied(Condition.parse("{divisor} <= {width}"), own)
    assert not is_implied(Condition.parse("{height} > 1"), own)


def test_what_no_sizes_break_is_aimed_at_three_times() -> None:
    """For what asks which of two is larger eight draws are allowed; where three find nothing, no more."""
    always = Condition.parse("{num_heads} * {batch_size} >= {num_heads}")
    search = Search([Alone([], [always])], FreeSizes(HINTS, [], random.Random(2)))
    while search.sizes() is not None:
        pass

    assert search.aimed == {always.text(): 3}
