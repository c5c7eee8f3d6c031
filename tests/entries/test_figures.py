"""Figures of entries are those that counting by hand gives."""

from __future__ import annotations

from forwardbook.entries.figures import Spread, figures
from forwardbook.entries.record import Own, Proof
from forwardbook.schema import Judge

from .examples import entry, regime


def test_lengths_are_counted_without_braces() -> None:
    """`2 * {n}` has five characters; several states are a `max(...)` of them."""
    one = entry("x.A", (), regime(Own(flops="2 * {n}", states=("{n}", "3"))))
    found = figures([one])

    assert 5 == found.flops.largest
    assert len("max(n, 3)") == found.peak.largest


def test_conditions_are_counted_by_regime() -> None:
    """The longest is so many characters; one regime of two has both."""
    two = ("{n} >= 2", "{m} % {n} == 0")
    found = figures([entry("x.A", (), regime(Own()), regime(Own(), name="b", conditions=two))])

    assert (1.0, 0, 2) == (found.conditions.median, found.conditions.p95, found.conditions.largest)
    assert len("m % n == 0") == found.longest_condition


def test_a_copy_has_a_verdict_and_no_regimes() -> None:
    """Regimes of a class are counted where the formulas are."""
    whole = entry("x.A", (), regime(Own()), regime(Own(), name="b", signature="other"))
    found = figures([whole, entry("x.B", ()).model_copy(update={"same_as": "x_A"})])

    assert (2, 2, 1.0) == (found.classes, found.exact, found.exact_share)
    assert Spread(2, 2, 2) == found.regimes_of_class
    assert Spread(2, 2, 2) == found.signatures_of_class


def test_verdicts_are_shares_of_all_classes() -> None:
    """One of four is exact, and one has a judge."""
    judged = Proof(verdict="exact", judges=(Judge(name="cpu", quantity="flops", agreed=1, asked=1),))
    states = ("bounded", "pinned", "unproved")
    others = [entry(f"x.{one}", ()).model_copy(update={"verdict": one}) for one in states]
    found = figures([entry("x.A", (), regime(Own(), proof=judged)), *others])

    assert (4, 1, 1, 0, 1, 1) == (
        found.classes,
        found.exact,
        found.bounded,
        found.assumed,
        found.pinned,
        found.unproved,
    )
    assert (1, 0.25) == (found.judged, found.exact_share)


def test_of_a_hundred_numbers_ninety_five_are_at_most_the_second_figure() -> None:
    """The numbers 1 to 100: 50.5 in the middle, 95, 100."""
    assert Spread(50.5, 95, 100) == Spread.of(range(100, 0, -1))


def test_of_no_entries_all_is_zero() -> None:
    """Nothing is divided by the number of classes."""
    assert (0, 0.0, 0) == ((none := figures([])).classes, none.exact_share, none.flops.largest)
