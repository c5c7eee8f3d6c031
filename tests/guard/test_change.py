"""What changed between two states of a class: which line, by how much, at which sizes."""

from fractions import Fraction

import pytest

from forwardbook.guard.change import Amount, class_change
from forwardbook.guard.kept import kept
from forwardbook.guard.settings import settings_of
from forwardbook.guard.sizes import reference_sizes

from .conftest import Build


def test_the_dearer_line_is_named_with_both_numbers(build: Build) -> None:
    """12 % more on one line, at the sizes that project and class give; the other line is not shown."""
    change = class_change("k", build(25), build(28), {"seq_len": 100})
    [regime] = change.regimes
    [line] = regime.lines
    [amount] = line.amounts

    assert {"batch_size": 1, "seq_len": 100, "width": 64} == regime.sizes.values if regime.sizes else None
    assert (10, "h = self.up(x)", "flops") == (line.line, line.code, amount.quantity)
    assert (25 * 100 * 64 * 64, 28 * 100 * 64 * 64) == (amount.was, amount.now)
    assert Fraction(3, 25) == amount.share
    assert ["flops"] == [one.quantity for one in regime.amounts]


@pytest.mark.parametrize(
    ("tolerance", "beyond"), [("0", True), ("11/100", True), ("12/100", False), ("1", False)]
)
def test_the_tolerance_is_exact(build: Build, tolerance: str, beyond: bool) -> None:
    """A growth of exactly the tolerance is within it."""
    assert beyond == class_change("k", build(25), build(28)).is_beyond(Fraction(tolerance))


def test_what_costs_less_improved_and_is_not_beyond(build: Build) -> None:
    """A line that became cheaper is told with both numbers, and fails nothing."""
    change = class_change("k", build(28), build(25))

    assert change.is_changed
    assert change.is_improved(Fraction(0))
    assert not change.is_beyond(Fraction(0))


def test_a_class_that_only_moved_is_the_same(build: Build) -> None:
    """Other line numbers are no change, nor is another way to write the same polynomial."""
    assert not class_change("k", build(first=10), build(first=400)).is_changed


def test_lines_are_matched_by_their_code(build: Build) -> None:
    """A line that was rewritten stands against the one in its place."""
    change = class_change("k", build(25), build(28, codes=("h = self.wide(x)", "return h * scale"), first=12))
    [line] = change.regimes[0].lines

    assert (10, "h = self.up(x)", 12, "h = self.wide(x)") == (
        line.before_line,
        line.before_code,
        line.line,
        line.code,
    )


def test_other_conditions_are_a_change_without_a_cost(build: Build) -> None:
    """Formulas that hold elsewhere are told, and are within any tolerance."""
    change = class_change("k", build(), build(conditions=("{seq_len} > 2",)))

    assert change.is_changed
    assert not change.is_beyond(Fraction(0))


def test_a_proof_or_a_regime_that_is_lost_is_beyond_any_tolerance(build: Build) -> None:
    """What was proved and is not any more cannot be called cheap."""
    assert class_change("k", build(), build(verdict="unproved")).is_beyond(Fraction(100))
    assert class_change("k", build(), build(regimes=False)).is_beyond(Fraction(100))
    assert not class_change("k", build(regimes=False), build()).is_beyond(Fraction(0))


def test_something_from_nothing_has_no_share() -> None:
    """A cost that was zero grew by no percentage, and counts as beyond."""
    assert Amount("flops", "0", "{n}", 0, 5).is_beyond(Fraction(10**9))
    assert not Amount("flops", "0", "0", 0, 0).is_beyond(Fraction(0))


def test_sizes_that_do_not_hold_give_way_to_a_proved_point(build: Build) -> None:
    """Where a regime does not hold at usual sizes, a proved call of the class as it was built is taken."""
    entry = build(conditions=("{seq_len} < 10",))
    found = reference_sizes(entry, entry.regimes[0], {})

    assert found is not None
    assert {"batch_size": 3, "seq_len": 7, "width": 64} == found.values
    assert "batch_size, seq_len of a proved point" == found.origin
    narrow = build(conditions=("{seq_len} < 10", "{width} < 12"))
    found = reference_sizes(narrow, narrow.regimes[0], {})
    assert found is not None
    assert ({"batch_size": 3, "seq_len": 7, "width": 11}, "a proved point") == (found.values, found.origin)


def test_budgets_are_held_at_their_sizes(build: Build) -> None:
    """Kept and broken budgets, one outside every regime, one of an unknown class."""
    text = """
    [tool.forwardbook.budgets]
    "mymodel.Block" = {flops = ["< 26 @ seq_len=2, width=1", "< 51 @ batch_size=1, seq_len=2, width=1"]}
    Block = {peak = ["<= 8 @ seq_len=1", "<= 8 @ kv_len=3", "<= 64 B"]}
    Nobody = {flops = "< 1"}
    """
    found = list(kept(settings_of(text, ""), {"k": build(25)}))

    assert [50, 50, None, None, 64, None] == [one.value for one in found]
    assert [False, True, False, False, True, False] == [one.is_kept for one in found]
    assert "it holds when {seq_len} > 1" in found[2].problem
    assert "does not depend on kv_len" in found[3].problem
    assert "no class of the database has this name" in found[5].problem


def test_a_name_of_several_classes_is_refused(build: Build) -> None:
    """A budget is for one class; where its name means two, both are listed."""
    other = build().model_copy(update={"full_class_name": "mymodel.other.Block"})
    [found] = kept(
        settings_of("[tool.forwardbook.budgets]\nBlock = {flops = '< 1'}", ""), {"a": build(), "b": other}
    )

    assert "mymodel.layers.Block, mymodel.other.Block" in found.problem
    assert not found.is_kept


def test_a_changed_default_is_a_changed_cost(build: Build) -> None:
    """The same formulas, of a call that gives no width: 8 times as wide is 64 times the flops."""
    before = build().model_copy(update={"defaults": {"width": 16}, "given": None})
    after = build().model_copy(update={"defaults": {"width": 128}, "given": None})
    change = class_change("k", before, after)
    [regime] = change.regimes
    flops = {one.quantity: one for one in regime.amounts}["flops"]

    assert [("width", 16, 128)] == [(one.name, one.before, one.after) for one in change.defaults]
    assert (25 * 2048 * 16 * 16, 25 * 2048 * 128 * 128) == (flops.was, flops.now)
    assert {"batch_size": 1, "seq_len": 2048, "width": 16} == (regime.sizes and regime.sizes.values)
    assert change.is_beyond(Fraction(1))
    assert class_change("k", after, before).is_improved(Fraction(0))


def test_a_projects_sizes_do_not_hide_a_changed_default(build: Build) -> None:
    """Where the project names the width, too, the defaults are what is compared."""
    before, after = (build().model_copy(update={"defaults": {"width": n}}) for n in (16, 128))

    assert class_change("k", before, after, {"width": 1024}).is_beyond(Fraction(1))
    assert not class_change("k", before, before, {"width": 1024}).is_changed


def test_regimes_are_paired_by_the_call_and_not_by_name(build: Build) -> None:
    """One regime became two, by the number format: each is compared with what held in its calls before."""
    before = build(25, conditions=())
    [narrow], [wide] = (
        build(factor, conditions=(text,)).regimes
        for factor, text in ((28, "{seq_len} > 1"), (25, "{seq_len} == 1"))
    )
    names = ("default, long", "default, short")
    regimes = tuple(
        one.model_copy(update={"name": name}) for one, name in zip((narrow, wide), names, strict=True)
    )
    change = class_change("k", before, before.model_copy(update={"regimes": regimes}))

    assert [("default -> default, long", "changed")] == [(r.name, r.state) for r in change.regimes[:1]]
    [amount] = change.regimes[0].amounts
    assert (25 * 2048 * 64 * 64, 28 * 2048 * 64 * 64) == (amount.was, amount.now)
    assert {"new", "gone"}.isdisjoint(r.state for r in change.regimes[:1])
    assert 10 == change.regimes[0].lines[0].line


def test_what_nobody_gives_is_taken_as_the_class_has_it(build: Build) -> None:
    """A budget at a batch and a length holds at the default width; what the budget names goes before."""
    entry = build().model_copy(update={"defaults": {"width": 32}, "given": None})
    text = "[tool.forwardbook.budgets]\nBlock = {flops = ['< 1e9 @ seq_len=4', '< 1e9 @ seq_len=4, width=2']}"

    assert [25 * 4 * 32 * 32, 25 * 4 * 2 * 2] == [
        one.value for one in kept(settings_of(text, ""), {"k": entry})
    ]


def test_a_choice_with_another_default_is_compared_as_whoever_chooses_nothing_has_it(build: Build) -> None:
    """`gated: bool = False` became True: both builds cost what they did, and the usual call costs more."""
    plain, gated = build(25).regimes[0], build(75).regimes[0]
    regimes = (
        plain.model_copy(update={"choices": {"gated": False}}),
        gated.model_copy(update={"name": "default, gated", "choices": {"gated": True}}),
    )
    before, after = (
        build().model_copy(update={"regimes": regimes, "defaults": {"gated": value}})
        for value in (False, True)
    )
    change = class_change("k", before, after)

    assert change.is_beyond(Fraction(0))
    assert (25 * 2048 * 64 * 64, 75 * 2048 * 64 * 64) == next(
        (one.was, one.now) for one in change.regimes[0].amounts if one.quantity == "flops"
    )
