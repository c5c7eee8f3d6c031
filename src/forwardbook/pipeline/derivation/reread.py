"""A record in; out what its formulas, read again as they are written, do not keep of what was proved."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.errors import FormulaError
from forwardbook.formula import Condition, Expr, parse
from forwardbook.schema import PER_LINE, Entry, Regime


def misread(entry: Entry) -> list[str]:
    """Why a reader of the record would not find what was proved; nothing where all is well.

    Every formula is read by the grammar that readers use. The lines add up to the total as polynomials; at
    each point that is kept, the formulas give what was measured, and the conditions on sizes hold.
    """
    return [f"{one.name}: {problem}" for one in entry.regimes for problem in _problems(one)]


def _problems(one: Regime) -> Iterator[str]:
    try:
        yield from _sums(one)
        yield from _points(one)
    except FormulaError as error:
        yield f"a formula cannot be read again: {error}"


def _sums(one: Regime) -> Iterator[str]:
    for quantity in PER_LINE:
        in_flops = quantity in ("flops", "pointwise_ops")
        lines = one.flop_analysis.lines if in_flops else one.memory_analysis.lines
        total = Expr.sum(parse(getattr(line, quantity), exact=True) for line in lines)
        if total != parse(one.formula(quantity), exact=True):
            yield f"the {quantity} of its lines are not seen to add up to the total"


def _points(one: Regime) -> Iterator[str]:
    conditions = [Condition.parse(text) for text in one.conditions if "_dtype_bytes" not in text]
    for point in one.proof.points if one.proof is not None else ():
        for quantity, measured in point.measured.items():
            if parse(one.formula(quantity), exact=True).evaluate(point.sizes) != measured:
                yield f"{quantity} as written is not what was measured"
        yield from (f"a point breaks {c.text()}" for c in conditions if not c.holds(point.sizes))
