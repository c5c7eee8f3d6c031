"""What was sought in vain is not sought again, nor what asks more; everything else is."""

from __future__ import annotations

from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.fruitless import Fruitless, Sizes

NEAR = {"width": 48, "heads": 6, "rows": 3}
NARROW = Condition.parse("{width} < {heads}")
DIVIDES = Condition.parse("{width} % {heads} == 0")
LONG = Condition.parse("{rows} > 2")


class Finder:
    """Finds what it is told to, and counts how often it was asked."""

    def __init__(self, found: Sizes | None = None) -> None:
        self.found, self.asked = found, 0

    def __call__(self) -> Sizes | None:
        """The sizes, or none."""
        self.asked += 1
        return self.found


def sought_in_vain(*conditions: Condition, **fixed: int) -> Fruitless:
    """What knows that no sizes were found for these."""
    fruitless = Fruitless()
    assert fruitless.sought(NEAR, conditions, Finder(), fixed) is None
    return fruitless


def test_the_same_and_more_is_not_sought_again() -> None:
    """In any order, with sizes fixed besides: no search finds what fewer conditions kept another from."""
    fruitless, finder = sought_in_vain(NARROW, DIVIDES), Finder({"width": 1})

    assert fruitless.sought(NEAR, [DIVIDES, NARROW], finder) is None
    assert fruitless.sought(NEAR, [LONG, NARROW, DIVIDES], finder, {"rows": 5}) is None
    assert finder.asked == 0


def test_less_and_other_is_sought() -> None:
    """Fewer conditions may have sizes, as may others; what was found is given back."""
    fruitless, finder = sought_in_vain(NARROW, DIVIDES), Finder({"width": 1})

    assert fruitless.sought(NEAR, [NARROW], finder) == {"width": 1}
    assert fruitless.sought(NEAR, [DIVIDES, LONG], finder) == {"width": 1}
    assert fruitless.sought(NEAR, [NARROW], finder) == {"width": 1}


def test_sizes_near_others_are_sought() -> None:
    """Where a run has other sizes of those that the conditions speak of, sizes near these may do."""
    fruitless, finder = sought_in_vain(NARROW), Finder({"width": 1})

    assert fruitless.sought({**NEAR, "rows": 9}, [NARROW], finder) is None
    assert fruitless.sought({**NEAR, "heads": 80}, [NARROW], finder) == {"width": 1}


def test_what_fixed_sizes_keep_from_any_is_sought_without_them() -> None:
    """Fixed sizes are conditions as others are."""
    fruitless, finder = sought_in_vain(DIVIDES, width=1), Finder({"width": 1})

    assert fruitless.sought(NEAR, [DIVIDES], finder, {"width": 1}) is None
    assert fruitless.sought(NEAR, [DIVIDES], finder, {"width": 2}) == {"width": 1}
    assert fruitless.sought(NEAR, [DIVIDES], finder) == {"width": 1}
