"""A record in; out what its formulas, read again as they are written, do not keep of what was proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from forwardbook.errors import FormulaError
from forwardbook.formula import Condition, Expr, parse
from forwardbook.schema import MEMORY_QUANTITIES, PER_LINE, QUANTITIES, Entry, Regime


def misread(entry: Entry) -> list[str]:
    """Why a reader of the record would not find what was proved; nothing where all is well.

    Every formula is read by the grammar that readers use. The lines add up to the total as polynomials; at
    each point that is kept, the formulas give what was measured, and the conditions on sizes hold.
    """
    return [f"{one.name}: {problem}" for one in entry.regimes for problem in _problems(one)]


def _problems(one: Regime) -> Iterator[str]:
    try:
        totals = {quantity: parse(one.formula(quantity), exact=True) for quantity in QUANTITIES}
        yield from _sums(one, totals)
        yield from _points(one, totals)
    except FormulaError as error:
        yield f"a formula cannot be read again: {error}"


def _sums(one: Regime, totals: Mapping[str, Expr]) -> Iterator[str]:
    for quantity in PER_LINE:
        in_memory = quantity in MEMORY_QUANTITIES
        lines = one.memory_analysis.lines if in_memory else one.flop_analysis.lines
        if Expr.sum(parse(getattr(line, quantity), exact=True) for line in lines) != totals[quantity]:
            yield f"the {quantity} of its lines are not seen to add up to the total"


def _points(one: Regime, totals: Mapping[str, Expr]) -> Iterator[str]:
    conditions = [Condition.parse(text) for text in one.conditions if "_dtype_bytes" not in text]
    for point in one.points:
        for quantity, measured in point.measured.items():
            if totals[quantity].evaluate(point.sizes) != measured:
                yield f"{quantity} as written is not what was measured"
        yield from (f"a point breaks {c.text()}" for c in conditions if not c.holds(point.sizes))
