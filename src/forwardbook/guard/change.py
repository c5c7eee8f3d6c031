"""Two entries of one class in; out what changed: verdict, formulas, the cost of each line at some sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from forwardbook.formula import FormulaError, parse
from forwardbook.guard.lines import LineFormulas, line_formulas, paired
from forwardbook.guard.sizes import Sizes, reference_sizes
from forwardbook.schema import PROVED, QUANTITIES, Entry, Regime

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
        """Whether it changed by more than a share; what cannot be told counts as beyond."""
        share = self.share
        return share is None or abs(share) > tolerance


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
    """What became of one regime, at `sizes`."""

    name: str
    state: State
    sizes: Sizes | None = None
    amounts: tuple[Amount, ...] = ()
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

    @property
    def is_changed(self) -> bool:
        """Whether any formula, condition or the verdict is another one."""
        return self.verdicts[0] != self.verdicts[1] or any(r.state != "same" for r in self.regimes)

    def is_beyond(self, tolerance: Fraction) -> bool:
        """Whether any of its costs changed by more than a share, or cannot be told any more."""
        lost = self.verdicts[0] in PROVED and self.verdicts[1] not in PROVED
        return lost or any(_is_beyond(one, tolerance) for one in self.regimes)


def class_change(
    key: str,
    before: Entry,
    after: Entry,
    wanted: Mapping[str, int] | None = None,
    reasons: tuple[str, ...] = (),
) -> ClassChange:
    """What changed from one entry to the other, at reference sizes."""
    now = {regime.name: regime for regime in after.regimes}
    was = {regime.name: regime for regime in before.regimes}
    changes = [
        _regime_change(before, after, was.get(name), now.get(name), wanted or {}) for name in {**was, **now}
    ]
    return ClassChange(
        key,
        after.full_class_name,
        after.code_location.file,
        after.code_location.line_start,
        (before.validation.verdict, after.validation.verdict),
        tuple(changes),
        reasons,
        after.validation.reason if after.validation.verdict != before.validation.verdict else "",
    )


def _is_beyond(change: RegimeChange, tolerance: Fraction) -> bool:
    if change.state in ("gone", "new"):
        return change.state == "gone"
    if change.state == "changed" and change.sizes is None:
        return True
    return any(amount.is_beyond(tolerance) for amount in change.amounts)


def _regime_change(
    before: Entry, after: Entry, was: Regime | None, now: Regime | None, wanted: Mapping[str, int]
) -> RegimeChange:
    if was is None or now is None:
        one = was or now
        assert one is not None
        return RegimeChange(one.name, "new" if was is None else "gone")
    conditions = (was.conditions, now.conditions)
    texts = [(q, was.formula(q), now.formula(q)) for q in QUANTITIES]
    lines = list(paired(line_formulas(was), line_formulas(now)))
    same = all(same_formula(a, b) for _, a, b in texts) and set(was.conditions) == set(now.conditions)
    if same and all(_same_line(a, b) for a, b in lines):
        return RegimeChange(was.name, "same", conditions=conditions)
    sizes = _shared_sizes(before, after, was, now, wanted)
    values = sizes.values if sizes is not None else {}
    amounts = tuple(_amount(q, a, b, values) for q, a, b in texts if not same_formula(a, b))
    changed = tuple(_line_change(a, b, values) for a, b in lines if not _same_line(a, b))
    remark = "" if sizes is not None else "there are no sizes at which both hold"
    return RegimeChange(was.name, "changed", sizes, amounts, changed, conditions, remark)


def _shared_sizes(
    before: Entry, after: Entry, was: Regime, now: Regime, wanted: Mapping[str, int]
) -> Sizes | None:
    """Numbers for the names of both; those of the state before win where both have a name."""
    first, second = reference_sizes(before, was, wanted), reference_sizes(after, now, wanted)
    if first is None or second is None:
        return None
    return Sizes({**second.values, **first.values}, first.origin)


def _amount(quantity: str, before: str, after: str, sizes: Mapping[str, int]) -> Amount:
    return Amount(quantity, before, after, value_of(before, sizes), value_of(after, sizes))


def _line_change(was: LineFormulas | None, now: LineFormulas | None, sizes: Mapping[str, int]) -> LineChange:
    one = now or was
    assert one is not None
    amounts = []
    for quantity in LINE_QUANTITIES:
        before, after = (side.formula(quantity) if side else "0" for side in (was, now))
        if not same_formula(before, after):
            amounts.append(_amount(quantity, before, after, sizes))
    return LineChange(
        now.line if now else 0,
        now.end_line if now else 0,
        now.code if now else "",
        was.line if was else 0,
        was.code if was else "",
        tuple(amounts),
    )


def _same_line(was: LineFormulas | None, now: LineFormulas | None) -> bool:
    sides = [[side.formula(q) if side else "0" for q in LINE_QUANTITIES] for side in (was, now)]
    return all(same_formula(a, b) for a, b in zip(*sides, strict=True))


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
