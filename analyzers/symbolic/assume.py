"""Simplifies formulas and conditions under divisibility known to hold; drops conditions that say nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice

from forwardbook.analyzers.symbolic.divisible import QUOTIENT, as_multiple, divisibility
from forwardbook.analyzers.symbolic.lengths import is_simple, not_implied
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.cost import Cost
from forwardbook.formula import Condition, Expr, FormulaError
from forwardbook.formula.atoms import Extreme, Floor
from forwardbook.formula.bounds import is_never_negative
from forwardbook.formula.expr import Known
from forwardbook.formula.trials import may_reach, tried

_FIELDS = ("flops", "pointwise_ops", "reads", "writes")
_TERMS, _DEPTH = 12, 3  # of a value that a proof is looked for: larger ones took half of the time for nothing
_SAMPLES = 240
_ENOUGH = _SAMPLES // 20  # samples at which it was asked, for a condition to be said always to hold
_KEPT = 1 << 14  # answers that are remembered: heads of a model ask what it asked
_NEAR = 0.4  # how often a sampled size is a multiple of another, or next to one
_LARGEST_EDGE = 1 << 16
_SETTLED: dict[tuple[str, ...], bool] = {}


@dataclass
class _Rewritten:
    """What was rewritten before: the patterns of one run share most of it."""

    values: dict[Expr, Expr] = field(default_factory=dict)
    conditions: dict[Condition, Condition | None] = field(default_factory=dict)


@lru_cache(maxsize=64)
def _rewritten_under(_pairs: tuple[tuple[str, Expr, Condition], ...]) -> _Rewritten:
    return _Rewritten()


def _is_rounded(value: Expr) -> bool:
    """Whether a division is rounded anywhere within."""
    return any(
        isinstance(atom, Floor) or (isinstance(atom, Extreme) and any(map(_is_rounded, atom.arguments)))
        for atom in value.atoms()
    )


class Assumed:
    """Rewrites under `x % m == 0`: x becomes m quotients, roundings cancel, the quotient becomes x / m."""

    def __init__(self, conditions: Iterable[Condition]) -> None:
        self.pairs = divisibility(conditions)
        self._known = _rewritten_under(tuple(self.pairs))

    def of(self, value: Expr) -> Expr:
        """`value` without the roundings that divisibility makes exact."""
        known = self._known.values
        if value not in known:
            known[value] = self._whole(value)
        return known[value]

    def _whole(self, value: Expr) -> Expr:
        for name, divisor, _ in self.pairs:
            if name not in value.symbols() or not _is_rounded(value):
                continue
            try:
                inner = value.subs({name: divisor * Expr.symbol(QUOTIENT)})
                value = inner.subs({QUOTIENT: Expr.symbol(name).exact_div(divisor)})
            except FormulaError:
                continue
        return value

    def condition(self, one: Condition) -> Condition | None:
        """The condition rewritten; None where divisibility implies it."""
        known = self._known.conditions
        if one not in known:
            known[one] = self._condition(one)
        return known[one]

    def _condition(self, one: Condition) -> Condition | None:
        if any(one == known for _, _, known in self.pairs):
            return one
        said = Condition(self.of(one.left), one.op, self.of(one.right))
        return None if said.is_trivially_true() or self._implies(one) else said

    def _implies(self, one: Condition) -> bool:
        """Whether a condition holds for all quotients, each a size from 1 on like its multiple."""
        try:
            for name, divisor, _ in self.pairs:
                one = one.subs(as_multiple(name, divisor))
        except FormulaError:
            return False
        return one.is_trivially_true()

    def pattern(self, pattern: Pattern) -> Pattern:
        """Every expression of a pattern rewritten."""
        if not self.pairs:
            return pattern
        summary = rewritten(pattern.summary, self.of)
        names = summary.symbols()
        used = [known for name, _, known in self.pairs if name in names and known.symbols() <= names]
        conditions = distinct([*used, *self.conditions(pattern.conditions)])
        return replace(pattern, summary=summary, conditions=tuple(conditions))

    def conditions(self, conditions: Iterable[Condition]) -> list[Condition]:
        """The conditions rewritten, without those that divisibility implies."""
        return distinct(c for c in map(self.condition, conditions) if c is not None)


def rewritten(summary: Summary, change: Callable[[Expr], Expr]) -> Summary:
    """The summary with every expression changed."""

    def cost(one: Cost) -> Cost:
        return Cost(*(change(Expr.of(getattr(one, field))) for field in _FIELDS))

    return replace(
        summary,
        totals=cost(summary.totals),
        weights=change(Expr.of(summary.weights)),
        boundary=change(Expr.of(summary.boundary)),
        intermediates=change(Expr.of(summary.intermediates)),
        peaks=tuple(dict.fromkeys(change(Expr.of(p)) for p in summary.peaks)),
        lines=tuple(replace(line, cost=cost(line.cost)) for line in summary.lines),
    )


def substituted(pattern: Pattern, values: Mapping[str, int | Expr]) -> Pattern:
    """The pattern with numbers in place of names, in formulas and conditions."""
    said = [c.subs(values) for c in pattern.conditions]
    return replace(
        pattern,
        summary=rewritten(pattern.summary, lambda e: e.subs(values)),
        conditions=tuple(c for c in distinct(said) if not c.is_trivially_true()),
    )


def distinct(conditions: Iterable[Condition]) -> list[Condition]:
    """Each condition once; `a != b` and `b != a` are the same."""
    return list({_said(c): c for c in reversed(list(conditions))}.values())[::-1]


def _said(condition: Condition) -> Condition | tuple[str, frozenset[Expr]]:
    if condition.op not in ("==", "!="):
        return condition
    return condition.op, frozenset((condition.left, condition.right))


def informative(conditions: Sequence[Condition], given: Sequence[Condition]) -> list[Condition]:
    """Conditions that are not true for all sizes from 2 on (size 1 is put to the test by itself).

    Those that the algebra cannot settle (nested roundings and maxima) are sampled over all magnitudes, under
    the conditions that are kept: of several that say the same in other words, one has to stay.
    """
    said_once = not_implied(not_implied(distinct(conditions)), lowest=2)
    kept = [c for c in said_once if not _above_one(c)]
    said = set(conditions)
    context = [c for c in given if c not in said]
    for condition in sorted(kept, key=lambda c: len(c.text()), reverse=True):
        others = [c for c in kept if c is not condition]
        if _always(condition, [*context, *others]):
            kept = others
    return independent(kept)


def gap(condition: Condition) -> Expr | None:
    """What an inequality says is at least 0 (sizes are whole numbers: a > b is a - b - 1 >= 0)."""
    difference = condition.left - condition.right
    forms = {">": difference - 1, ">=": difference, "<": -difference - 1, "<=": -difference}
    return forms.get(condition.op)


def independent(conditions: Sequence[Condition], zeros: bool = False) -> list[Condition]:
    """Without inequalities that a stronger one implies, and `a != b` where `a > b` is said.

    Sizes are at least 1; with `zeros` at least 0, as a padding may be.
    """
    implies = is_never_negative if zeros else _is_positive
    gaps = {c: said for c in conditions if (said := gap(c)) is not None}
    values = {c: tried(said) for c, said in gaps.items()}

    def stronger(mine: Condition, other: Condition) -> bool:
        """Whether the other inequality holds only where mine does."""
        return may_reach(values[mine], values[other]) and implies(gaps[mine] - gaps[other])

    kept: dict[Condition, None] = {}
    for condition in conditions:
        others = [c for c in gaps if c != condition]
        if condition in gaps:
            # of two that say the same, the first is kept
            if any(stronger(condition, c) and (c in kept or not stronger(c, condition)) for c in others):
                continue
        elif condition.op == "!=":
            difference = condition.left - condition.right
            sides = [(one, tried(one)) for one in (difference, -difference)]
            if any(
                may_reach(found, values[c], 1) and implies(one - 1 - gaps[c])
                for c in others
                for one, found in sides
            ):
                continue
        kept[condition] = None
    return list(kept)


def _is_positive(value: Expr) -> bool:
    """Whether a value is at least 0 at all sizes from 1 on."""
    return is_simple(value, _TERMS, _DEPTH) and value.at_least(Expr.const(0))


def _above_one(condition: Condition) -> bool:
    if not is_simple(condition.left - condition.right, _TERMS, _DEPTH):
        return False
    moved: dict[str, int | Expr] = {name: Expr.symbol(name) + 1 for name in condition.symbols()}
    return condition.subs(moved).is_trivially_true()


def _always(condition: Condition, given: Sequence[Condition]) -> bool:
    text = condition.text()
    if not any(word in text for word in ("%", "max(", "min(", "floor(", "ceil(")) or _simple(condition):
        return False
    about = condition.symbols()
    names = sorted(about)
    checks = [c for c in given if c.symbols() <= about and c != condition]
    key = (text, *(c.text() for c in checks))
    if key not in _SETTLED:
        if len(_SETTLED) >= _KEPT:
            _SETTLED.clear()
        _SETTLED[key] = _sampled(condition, names, checks)
    return _SETTLED[key]


def _sampled(condition: Condition, names: Sequence[str], checks: Sequence[Condition]) -> bool:
    """Whether it holds wherever the checks do; they are many, so it is asked before them."""
    numbers = sorted({int(n) for n in re.findall(r"\d+", condition.text())})
    edges = tuple(n for n in numbers if 2 <= n <= _LARGEST_EDGE)
    held: list[tuple[Mapping[str, int], Known]] = []
    for point in _points(tuple(names), edges):
        known: Known = {}
        try:
            if condition.holds(point, known):
                held.append((point, known))
            elif all(c.holds(point, known) for c in checks):
                return False
        except FormulaError:
            continue  # an exact division does not come out even here: sizes outside the conditions
    met = (point for point, known in held if all(c.is_met(point, known) for c in checks))
    return sum(1 for _ in islice(met, _ENOUGH + 1)) > _ENOUGH


@lru_cache(maxsize=1 << 8)
def _points(names: tuple[str, ...], edges: tuple[int, ...]) -> list[dict[str, int]]:
    rng = random.Random(0)
    return [_point(names, edges, rng) for _ in range(_SAMPLES)]


def _point(names: Sequence[str], edges: Sequence[int], rng: random.Random) -> dict[str, int]:
    """Sizes of one magnitude, some at or beside multiples of edges or each other: roundings change there."""
    top = rng.choice((3, 3, 8, 64, 4096))
    point: dict[str, int] = {}
    for name in names:
        near = [*edges, *point.values()]
        value = rng.randint(2, top)
        if near and rng.random() < _NEAR:
            value = rng.choice(near) * rng.choice((1, 1, 2, 5)) + rng.choice((0, 0, 0, -1, 1))
        point[name] = max(value, 2)
    return point


def _simple(condition: Condition) -> bool:
    """`x % m == 0`: said by a reader of the formula, never dropped by sampling."""
    return condition.op == "==" and condition.right == Expr.const(0)
