"""The formulas of a regime as expressions: text of the record in, what evaluates and substitutes out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from forwardbook.calculator.composed import SUMMED
from forwardbook.entries.record import Call, Entry, Regime
from forwardbook.errors import FormulaError
from forwardbook.formula import Condition, Expr, parse

expression: Final = lru_cache(maxsize=1 << 14)(parse)
"""The expression of a text; many records hold the same."""
comparison: Final = lru_cache(maxsize=1 << 12)(Condition.parse)
"""The condition of a text."""
_UNCOUNTED: Final = ("count", "data")  # what may be none at all


@dataclass(frozen=True, slots=True)
class CallExpressions:
    """A call: how many, the bytes that live then, and the names of its class."""

    call: Call
    times: Expr
    live: Expr
    bindings: dict[str, Expr]

    @staticmethod
    def of(call: Call) -> CallExpressions:
        """The formulas of a call as expressions."""
        bindings = {name: expression(text) for name, text in call.bindings.items()}
        return CallExpressions(call, expression(call.times), expression(call.live), bindings)

    def all(self) -> Iterator[Expr]:
        """Every expression."""
        yield from (self.times, self.live, *self.bindings.values())


@dataclass(frozen=True, slots=True)
class RegimeExpressions:
    """A regime: what it demands of sizes, and its costs in these."""

    regime: Regime
    definitions: dict[str, Expr]
    conditions: tuple[Condition, ...]
    sums: tuple[Expr, ...]
    """The own quantities, in the order of SUMMED."""
    boundary: Expr
    states: tuple[Expr, ...]
    calls: tuple[CallExpressions, ...]
    needed: frozenset[str]
    """The names without which it has no value; definitions may have others."""
    least: dict[str, int]
    """The smallest size of each name: 1, and 0 where a condition or its source says there may be none."""

    @staticmethod
    def of(key: str, entry: Entry, regime: Regime) -> RegimeExpressions:
        """The formulas of a regime of an entry as expressions.

        Raises:
            FormulaError: for a text that is no formula.
        """
        try:
            return _of(entry, regime)
        except FormulaError as error:
            raise FormulaError(f"reading regime {regime.name!r} of the entry {key}: {error}") from error

    @property
    def names(self) -> frozenset[str]:
        """All names that it has."""
        return self.needed.union(self.definitions, *(one.symbols() for one in self.definitions.values()))


def _of(entry: Entry, regime: Regime) -> RegimeExpressions:
    own = regime.own
    definitions = {name: expression(text) for name, text in regime.definitions.items()}
    conditions = tuple(map(comparison, regime.conditions))
    sums = tuple(expression(getattr(own, quantity)) for quantity in SUMMED)
    boundary, states = expression(own.boundary), tuple(map(expression, own.states))
    calls = tuple(map(CallExpressions.of, regime.calls))
    values = [*sums, boundary, *states, *(one for call in calls for one in call.all())]
    needed = frozenset[str]().union(*(one.symbols() for one in values))
    needed = needed.union(*(one.symbols() for one in conditions))
    open_to_none = {one.name for one in entry.names if one.source in _UNCOUNTED}
    open_to_none |= {name for name in needed if Condition.at_least(name, 0) in conditions}
    known = needed.union(definitions, *(one.symbols() for one in definitions.values()))
    least = {name: 0 if name in open_to_none else 1 for name in sorted(known)}
    least |= {one.name: one.least for one in entry.names if one.least is not None and one.name in known}
    return RegimeExpressions(regime, definitions, conditions, sums, boundary, states, calls, needed, least)
