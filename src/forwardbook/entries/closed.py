"""A regime in; each of its quantities, calls included, as one formula in the names of the class out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from forwardbook.calculator.composed import MAX_DEPTH, SUMMED
from forwardbook.entries.definitions import solution_parts
from forwardbook.entries.expressions import CallExpressions, RegimeExpressions
from forwardbook.entries.facts import Facts
from forwardbook.entries.regimes import EntryError, Regimes, Signature
from forwardbook.errors import FormulaError
from forwardbook.formula import Condition, Expr
from forwardbook.formula.condition import excludes, negated
from forwardbook.formula.work import at_most, spend
from forwardbook.schema import QUANTITIES

SHORT: Final = 300
"""Characters of a formula that is shown unasked."""
MAX_TERMS: Final = 400
"""Terms of a formula; with more nobody reads it."""
MAX_PEAKS: Final = 48
"""States of which one may be the peak."""
MAX_STEPS: Final = 4_000_000  # of the algebra, about a second
_STEPS: Final = 200  # of one call
_ZERO: Final = Expr.const(0)
_TRUE: Final = Condition(_ZERO, "==", _ZERO)
_WEIGHTS_READ: Final = SUMMED.index("weights_read")

Sums = tuple[Expr | None, ...]
Values = Mapping[str, Expr]


@dataclass(frozen=True, slots=True)
class Total:
    """What a call costs in all: each of SUMMED, and the states of which one is the peak; None if too long."""

    sums: Sums
    peaks: tuple[Expr, ...] | None


@dataclass(frozen=True, slots=True)
class Closed:
    """The quantities of a regime that have a closed form, in its names.

    They hold where the regime does and `conditions` do: those that its calls demand beside its own.
    """

    regime: RegimeExpressions
    formulas: dict[str, Expr]
    conditions: tuple[Condition, ...]
    calls: tuple[dict[str, Expr], ...]
    """The quantities of SUMMED of each call, times as often as it is made; nothing where there is no form."""
    trouble: str = ""
    """Why there are no closed forms at all, if so."""


def closed(regimes: Regimes, regime: RegimeExpressions) -> Closed:
    """The closed forms of a regime, those that stay within bounds."""
    facts = Facts(regime)
    calls: list[dict[str, Expr]] = []
    conditions: dict[Condition, None] = {}
    trouble, parts = "", list[Total]()
    for call in regime.calls:
        walk = _Walk(regimes, facts)
        try:
            with at_most(MAX_STEPS):
                parts.append(walk.call(call, facts.values))
        except (EntryError, FormulaError) as error:
            trouble = trouble or f"self.{call.call.attribute} (line {call.call.line}): {error}"
            parts.append(Total((None,) * len(SUMMED), None))
        conditions |= walk.conditions
        calls.append({name: one for name, one in zip(SUMMED, parts[-1].sums, strict=True) if one is not None})
    formulas = _formulas(regime, facts, parts)
    return Closed(regime, formulas, tuple(conditions), tuple(calls), trouble)


def _formulas(regime: RegimeExpressions, facts: Facts, calls: list[Total]) -> dict[str, Expr]:
    try:
        with at_most(MAX_STEPS):
            total = _summed(regime, facts, facts.values, calls)
            boundary = _plus(regime.boundary.subs(facts.values), total.sums[_WEIGHTS_READ])
            found = dict(zip(SUMMED, total.sums, strict=True)) | {"boundary": boundary}
            if total.peaks is not None:
                found["peak"] = Expr.maximum(*total.peaks)
    except FormulaError:
        return {}
    return {name: value for name in QUANTITIES if (value := found.get(name)) is not None}


def short(value: Expr, definitions: Values, longest: int = SHORT) -> str | None:
    """The formula with `hidden_size` for `num_heads * head_dim` where that is shorter; None if it is long."""
    if len(value.terms) > longest // 4:
        return None
    try:
        text = value.text()
        for name, made in definitions.items():  # one after another: several may shorten it
            for other in _respelled(value, name, made):
                if _readable(spelling := other.text()) < _readable(text):
                    value, text = other, spelling
    except FormulaError:  # far too long
        return None
    return text if len(text) <= longest else None


def _respelled(value: Expr, name: str, made: Expr) -> Iterator[Expr]:
    """A formula with a name in place of what a definition makes it of, for each name in that."""
    for part in sorted(made.symbols() & value.symbols()):
        parts = solution_parts(made, part)
        if parts is not None and not parts[0] and len(parts[1].terms) == 1:
            yield value.subs({part: Expr.symbol(name).exact_div(parts[1])})


def _readable(text: str) -> tuple[bool, int]:
    """Shorter is better, and a division worse."""
    return "//" in text, len(text)


@dataclass
class _Walk:
    """Calls within calls, each in the names of the class at the top; equal ones are walked once."""

    regimes: Regimes
    facts: Facts
    conditions: dict[Condition, None] = field(default_factory=dict)
    _known: dict[object, Total] = field(default_factory=dict)
    _open: dict[object, None] = field(default_factory=dict)

    def call(self, call: CallExpressions, values: Values) -> Total:
        """What such calls cost together in all, where a class has these values."""
        times = call.times.subs(values)
        if not times:
            return Total((_ZERO,) * len(SUMMED), ())
        self._demand(Condition(times, ">=", Expr.const(1)))
        signature = self.regimes.signature(call.call.entry, call.call.signature)
        total = self._total(signature, {name: value.subs(values) for name, value in call.bindings.items()})
        live = call.live.subs(values)
        peaks = None if total.peaks is None else tuple(live + one for one in total.peaks or (_ZERO,))
        return Total(tuple(None if one is None else _bounded(times * one) for one in total.sums), peaks)

    def _total(self, signature: Signature, bound: Values) -> Total:
        """What one call costs in all."""
        spend(_STEPS)
        place = (signature.key, signature.name, tuple(sorted(bound.items(), key=lambda one: one[0])))
        if place not in self._known:
            if place in self._open or len(self._open) >= MAX_DEPTH:
                raise EntryError(f"{signature.key} calls itself without end")
            self._open[place] = None
            regime, values = self._chosen(signature, bound)
            calls = [self.call(one, values) for one in regime.calls]
            self._known[place] = _summed(regime, self.facts, values, calls)
            del self._open[place]
        return self._known[place]

    def _chosen(self, signature: Signature, bound: Values) -> tuple[RegimeExpressions, Values]:
        """The most general regime that may hold, and the values of its names.

        What it demands is a condition, and that none of those that are tried before it holds.
        """
        tried = [self._demanded(signature, one, bound) for one in signature.regimes]
        fixed = [sum(one.op == "==" for one in each.conditions) for each in signature.regimes]
        for place in sorted(range(len(tried)), key=lambda place: (fixed[place], -place)):
            demands, values = tried[place]
            before = [self._missed(one, demands) for one, _ in tried[:place]]
            every = [*demands, *(one for one in before if one is not None)]
            if any(map(self.facts.never, every)):
                continue
            for one in every:
                self._demand(one)
            return signature.regimes[place], values
        raise EntryError(f"no regime of {signature.key} holds")

    def _demanded(
        self, signature: Signature, regime: RegimeExpressions, bound: Values
    ) -> tuple[list[Condition], Values]:
        """What a regime demands of a caller's names, and the values of its own."""
        values = dict(bound)
        demands = list(_completed(regime, values))
        if missing := sorted(regime.needed - values.keys()):
            raise EntryError(f"{signature.key} is not told {', '.join(missing)}")
        return demands + [one.subs(values) for one in regime.conditions], values

    def _missed(self, demands: list[Condition], others: list[Condition]) -> Condition | None:
        """A condition under which one of these does not hold where others do; None where that is so."""
        if any(self.facts.never(one) or any(excludes(one, other) for other in others) for one in demands):
            return None
        open_ones = (one for one in demands if one not in others and not self.facts.follows(one))
        return negated(next(open_ones, _TRUE))

    def _demand(self, condition: Condition) -> None:
        if not self.facts.follows(condition):
            self.conditions[condition] = None


def _completed(regime: RegimeExpressions, values: dict[str, Expr]) -> Iterator[Condition]:
    """Adds to the values what definitions give of them; what these and least sizes demand of the values."""
    waiting, solved = dict(regime.definitions), dict[str, Expr]()
    while settled := [name for name, value in waiting.items() if _may_settle(name, value, values)]:
        for name in settled:
            value = waiting.pop(name)
            missing = next(iter(value.symbols() - values.keys()), None)
            if missing is None:
                made = value.subs(values)
                yield Condition(values.setdefault(name, made), "==", made)
            elif (parts := solution_parts(value, missing)) is not None:
                left, factor = values[name] - parts[0].subs(values), parts[1].subs(values)
                values[missing] = left.exact_div(factor) if len(factor.terms) == 1 else left.floordiv(factor)
                solved[missing] = left  # a multiple of the factor that is not 0 is at least once the factor
                yield Condition(left.mod(factor), "==", _ZERO)
    for name, least in regime.least.items():
        if name in values:
            yield Condition(solved.get(name, values[name]), ">=", Expr.const(least))


def _may_settle(name: str, value: Expr, values: Values) -> bool:
    """Whether at most one name of a definition has no value, and follows."""
    unknown = value.symbols() - values.keys()
    return not unknown or (
        len(unknown) == 1 and name in values and solution_parts(value, next(iter(unknown))) is not None
    )


def _summed(regime: RegimeExpressions, facts: Facts, values: Values, calls: list[Total]) -> Total:
    """A regime's own costs and those of its calls."""
    sums: Sums = tuple(one.subs(values) for one in regime.sums)
    peaks: list[Expr] | None = [one.subs(values) for one in regime.states]
    for call in calls:
        sums = tuple(map(_plus, sums, call.sums))
        peaks = None if peaks is None or call.peaks is None else list(dict.fromkeys([*peaks, *call.peaks]))
        if peaks is not None:
            peaks = facts.largest(peaks) if len(peaks) <= MAX_PEAKS else None
    return Total(sums, None if peaks is None else tuple(facts.largest(peaks)) or (_ZERO,))


def _plus(one: Expr | None, other: Expr | None) -> Expr | None:
    return None if one is None or other is None else _bounded(one + other)


def _bounded(value: Expr) -> Expr | None:
    return value if len(value.terms) <= MAX_TERMS else None
