"""Which tests that a call never asked its formula hangs on, from runs in which they were broken."""

from __future__ import annotations

from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.of_callers import Outcome, each_of_callers, of_callers
from forwardbook.profiling.proof import Difference, Point

HIGH, WIDE = "{image_height} <= 226", "{image_width} <= 226"
LOW = "{image_height} >= 224"


def _failed(**sizes: int) -> Outcome:
    """A run at sizes at which the only pattern gives another number."""
    return sizes, [Point(sizes, {"flops": 4}, {"flops": 9}, 1, (Difference("flops", "total", 4, 9),))]


def _told(found: list[Condition]) -> list[str]:
    return [condition.text() for condition in found]


def test_of_two_bounds_that_were_broken_together_both_may_be_to_blame() -> None:
    """Square images only were drawn: either side alone may change the number."""
    outcomes = {
        HIGH: _failed(image_height=448, image_width=448),
        WIDE: _failed(image_height=300, image_width=300),
    }

    assert [HIGH] == _told(of_callers(0, (), outcomes))
    assert [HIGH, WIDE] == _told(each_of_callers(0, (), outcomes))


def test_what_failed_where_a_condition_of_the_call_was_broken_tells_nothing() -> None:
    """The condition that stays explains it; nor does a run that was not made, or that gave every number."""
    kept = (Condition.parse(LOW),)
    right = {"image_height": 448, "image_width": 448}, [Point({}, {}, {}, 1, ())]
    outcomes = {HIGH: _failed(image_height=112, image_width=448), WIDE: None}

    assert [] == each_of_callers(0, kept, outcomes)
    assert [] == each_of_callers(0, (), {HIGH: right})
