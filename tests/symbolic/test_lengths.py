"""What is left out follows from what stays."""

import random

import pytest

from forwardbook.analyzers.symbolic.lengths import not_implied
from forwardbook.formula import Condition

LENGTH = "floor(({samples} - {kernel}) / {stride}) + 1"
NAMES = ("batch", "heads", "samples", "kernel", "stride")


def _kept(*texts: str, lowest: int = 1) -> list[str]:
    conditions = [Condition.parse(text) for text in texts]
    kept = not_implied(conditions, lowest)
    return [text for text, condition in zip(texts, conditions, strict=True) if condition in kept]


@pytest.mark.parametrize(
    "follows",
    [
        "{heads} * (" + LENGTH + ") >= {heads}",
        "{heads} != {heads} + {heads} * (" + LENGTH + ")",
        "max(1, " + LENGTH + ") == " + LENGTH,
        LENGTH + " > 0",
    ],
)
def test_what_holds_for_every_length_that_is_1_or_more_is_left_out(follows: str) -> None:
    """That the length is so is what stays."""
    assert _kept(LENGTH + " >= 1", follows) == [LENGTH + " >= 1"]


def test_a_number_that_is_excluded_raises_the_bound() -> None:
    """At least 1 and not 1 is at least 2; that itself says more than both."""
    said = [LENGTH + " >= 1", LENGTH + " != 1"]

    assert _kept(*said, "{heads} < {heads} * (" + LENGTH + ")") == said
    assert _kept(*said, LENGTH + " > 1") == [LENGTH + " > 1"]


def test_inner_lengths_are_named_first() -> None:
    """What says something of a length within another still says it."""
    outer = f"floor((({LENGTH}) - 1) / 2) + 1"
    said = [LENGTH + " >= 1", outer + " > 1"]

    assert _kept(*said, "{heads} < {heads} * (" + outer + ")") == said


@pytest.mark.parametrize("text", ["{heads} != {batch}", "{heads} * (" + LENGTH + ") != 6", LENGTH + " <= 9"])
def test_what_does_not_follow_stays(text: str) -> None:
    """Two sizes may be alike, and lengths may be any number from their bound on."""
    assert text in _kept(LENGTH + " >= 1", text)


def test_sizes_from_2_on_leave_out_more() -> None:
    """Where a size may be 1, the one is not less than the product."""
    text = "{heads} < {batch} * {heads}"

    assert _kept(text) == [text]
    assert _kept(text, lowest=2) == []


@pytest.mark.parametrize("seed", range(40))
def test_wherever_those_hold_that_stay_all_hold(seed: int) -> None:
    """Conditions at random, about lengths within lengths, at sizes at random."""
    rng = random.Random(seed)
    lengths = [LENGTH, f"ceil(({LENGTH}) / {{stride}})", "floor({heads} / {kernel})", "max(1, {heads} - 2)"]
    left = [f"({rng.choice(lengths)})", f"{{batch}} * ({rng.choice(lengths)})", "{heads}", "{batch}"]
    right = [*left, "0", "1", "2"]
    signs = (">", ">=", "!=", "==", "<")
    said = ((rng.choice(left), rng.choice(signs), rng.choice(right)) for _ in range(12))
    conditions = [Condition.parse(" ".join(parts)) for parts in said]
    kept = not_implied(conditions)

    for _ in range(400):
        sizes = {name: rng.randint(1, 9) for name in NAMES}
        if all(condition.is_met(sizes) for condition in kept):
            assert all(condition.is_met(sizes) for condition in conditions)
