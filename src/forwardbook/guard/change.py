"""Two entries of one class in; out what changed: verdict, formulas, the cost of each line at some sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from forwardbook.formula import FormulaError, parse
from forwardbook.guard.defaults import DefaultChange, changed_defaults, wanted_with
from forwardbook.guard.lines import LineFormulas, line_formulas, paired
from forwardbook.guard.pairing import State as Side
from forwardbook.guard.pairing import Together, together
from forwardbook.guard.sizes import Sizes, reference_sizes, usual_regimes
from forwardbook.schema import PROVED, QUANTITIES, Entry

LINE_QUANTITIES = ("flops", "pointwise_ops", "reads", "writes")
State = Literal["same", "changed", "gone", "new"]


@dataclass(frozen=True, slots=True)
class Amount:
    """One quantity before and after: its formulas and, where they can be evaluated, its numbers."""

    quantity: str
    before: str
    after: str
    was: int | None = None
    now: int | None = None

    @property
    def share(self) -> Fraction | None:
        """By what part of the cost before it changed; None where that was nothing or is unknown."""
        if self.was is None or self.now is None or (self.was == 0 and self.now != 0):
            return None
        return Fraction(self.now - self.was, self.was) if self.was else Fraction(0)

    def is_beyond(self, tolerance: Fraction) -> bool:
        """Whether it grew by more than a share; what cannot be told counts as beyond."""
        share = self.share
        return share is None or share > tolerance

    @property
    def is_less(self) -> bool:
        """Whether it is known to have become less."""
        return self.was is not None and self.now is not None and self.now < self.was


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line of forward() whose cost is another one; the line of a side where it is not is 0."""

    line: int
    end_line: int
    code: str
    before_line: int
    before_code: str
    amounts: tuple[Amount, ...]


@dataclass(frozen=True, slots=True)
class RegimeChange:
    """What became of one regime, at `sizes`; `now_sizes` are those of the same call after, where others.

    `amounts` are the quantities that changed, `totals` all of them.
    """

    name: str
    state: State
    sizes: Sizes | None = None
    amounts: tuple[Amount, ...] = ()
    totals: tuple[Amount, ...] = ()
    now_sizes: Mapping[str, int] | None = None
    lines: tuple[LineChange, ...] = ()
    conditions: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    remark: str = ""


@dataclass(frozen=True, slots=True)
class ClassChange:
    """What became of a class between two states."""

    key: str
    full_class_name: str
    file: str
    line: int
    verdicts: tuple[str, str]
    regimes: tuple[RegimeChange, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why it was looked at: what of it is another one."""
    remark: str = ""
    defaults: tuple[DefaultChange, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether any formula, condition, default or the verdict is another one."""
        if self.defaults or self.verdicts[0] != self.verdicts[1]:
            return True
        return any(one.state != "same" for one in self.regimes)

    def is_beyond(self, tolerance: Fraction) -> bool:
        """Whether any of its costs grew by more than a share, or cannot be told any more."""
        lost = self.verdicts[0] in PROVED and self.verdicts[1] not in PROVED
        return lost or any(_is_beyond(one, tolerance) for one in self.regimes)

    def is_improved(self, tolerance: Fraction) -> bool:
        """Whether some of its costs became less, and none grew by more than a share."""
        less = any(amount.is_less for one in self.regimes for amount in one.amounts)
        return less and not self.is_beyond(tolerance)


def class_change(
    key: str,
    before: Entry,
    after: Entry,
    wanted: Mapping[str, int] | None = None,
    reasons: tuple[str, ...] = (),
) -> ClassChange:
    """What changed from one entry to the other, in the reference call of each regime.

    What has another default has the old one before and the new one after.
    """
    defaults = changed_defaults(before, after)
    free = frozenset(one.name for one in defaults)
    sides = (
        Side(before, wanted_with(wanted or {}, defaults, is_after=False)),
        Side(after, wanted_with(wanted or {}, defaults, is_after=True)),
    )
    if before.regimes == after.regimes and not free:
        changes = [RegimeChange(one.name, "same", None) for one in after.regimes]
    else:
        changes = [_regime_change(one) for one in together(*sides, free)]
    return ClassChange(
        key,
        after.full_class_name,
        after.code_location.file,
        after.code_location.line_start,
        (before.validation.verdict, after.validation.verdict),
        tuple(changes),
        reasons,
        after.validation.reason if after.validation.verdict != before.validation.verdict else "",
        defaults,
    )


def unchanged(key: str, entry: Entry, wanted: Mapping[str, int] | None = None) -> ClassChange:
    """A class that is as it was, with the totals of its first regime that has a reference call."""
    place, verdict = entry.code_location, entry.validation.verdict
    regimes: tuple[RegimeChange, ...] = ()
    for one in usual_regimes(entry):
        if (sizes := reference_sizes(entry, one, wanted or {})) is not None:
            texts = [(name, one.formula(name), one.formula(name)) for name in QUANTITIES]
            totals = tuple(_amount(*row, sizes.values, sizes.values) for row in texts)
            regimes = (RegimeChange(one.name, "same", sizes, (), totals),)
            break
    name = entry.full_class_name
    return ClassChange(key, name, place.file, place.line_start, (verdict, verdict), regimes)


def _is_beyond(change: RegimeChange, tolerance: Fraction) -> bool:
    if change.state in ("gone", "new"):
        return change.state == "gone"
    if change.state == "changed" and change.sizes is None:
        return True
    return any(amount.is_beyond(tolerance) for amount in change.amounts)


def _regime_change(one: Together) -> RegimeChange:
    """What became of a regime; under another name only numbers count that are others in this call."""
    was, now = one.was, one.now
    if was is None or now is None:
        alone = was or now
        assert alone is not None
        return RegimeChange(alone.name, "new" if was is None else "gone")
    before = one.sizes.values if one.sizes is not None else {}
    after = one.now_sizes if one.now_sizes is not None else before
    texts = [(q, was.formula(q), now.formula(q)) for q in QUANTITIES]
    totals = tuple(_amount(q, a, b, before, after) for q, a, b in texts)
    amounts = tuple(each for each in totals if _is_other(each))
    pairs = list(paired(line_formulas(was), line_formulas(now)))
    lines = tuple(line for a, b in pairs if (line := _line_change(a, b, before, after)).amounts)
    is_renamed = was.name != now.name
    if is_renamed:
        amounts = tuple(each for each in amounts if each.was != each.now or each.was is None)
        lines = tuple(line for line in lines if any(each.was != each.now for each in line.amounts))
    conditions = (was.conditions, now.conditions)
    name = f"{was.name} -> {now.name}" if is_renamed else was.name
    if not amounts and not lines and (is_renamed or set(was.conditions) == set(now.conditions)):
        return RegimeChange(name, "same", one.sizes, (), totals, conditions=conditions)
    remark = "" if one.sizes is not None else "there are no sizes at which both hold"
    others = after if one.sizes is not None and dict(after) != dict(before) else None
    return RegimeChange(name, "changed", one.sizes, amounts, totals, others, lines, conditions, remark)


def _is_other(one: Amount) -> bool:
    return one.was != one.now or not same_formula(one.before, one.after)


def _amount(quantity: str, before: str, after: str, was: Mapping[str, int], now: Mapping[str, int]) -> Amount:
    return Amount(quantity, before, after, value_of(before, was), value_of(after, now))


def _line_change(
    was: LineFormulas | None, now: LineFormulas | None, before: Mapping[str, int], after: Mapping[str, int]
) -> LineChange:
    one = now or was
    assert one is not None
    amounts = []
    for quantity in LINE_QUANTITIES:
        texts = [side.formula(quantity) if side else "0" for side in (was, now)]
        amount = _amount(quantity, texts[0], texts[1], before, after)
        if _is_other(amount):
            amounts.append(amount)
    return LineChange(
        now.line if now else 0,
        now.end_line if now else 0,
        now.code if now else "",
        was.line if was else 0,
        was.code if was else "",
        tuple(amounts),
    )


def same_formula(left: str, right: str) -> bool:
    """Whether two formulas are the same polynomial."""
    try:
        return left == right or parse(left) == parse(right)
    except FormulaError:
        return False


def value_of(formula: str, sizes: Mapping[str, int]) -> int | None:
    """The number of a formula at some sizes; None where they do not give it one."""
    try:
        return parse(formula).evaluate(sizes)
    except (FormulaError, ZeroDivisionError):
        return None
