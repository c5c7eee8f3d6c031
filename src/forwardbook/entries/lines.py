"""An evaluation in; what each line of forward() costs, the calls on it among it, out."""

from __future__ import annotations

from collections import Counter

from forwardbook.calculator import LineCost
from forwardbook.calculator.composed import SUMMED
from forwardbook.entries.evaluate import Evaluation, Evaluator
from forwardbook.entries.expressions import expression
from forwardbook.schema import PER_LINE


def line_amounts(evaluator: Evaluator, one: Evaluation) -> dict[tuple[int, str], int]:
    """Each of PER_LINE by the number of the line and its name."""
    found: Counter[tuple[int, str]] = Counter()
    for line in one.regime.regime.lines:
        for name in PER_LINE:
            found[line.line, name] += expression(getattr(line, name)).evaluate(one.sizes)
    for call in one.regime.calls:
        times, child = evaluator.call(call, one.sizes)
        if child is not None:
            for name in PER_LINE:
                found[call.call.line, name] += times * child.sums[SUMMED.index(name)]
    return dict(found)


def line_costs(evaluator: Evaluator, one: Evaluation) -> tuple[LineCost[int], ...]:
    """The lines of the regime with these amounts; a call on a line that has no source has a line without."""
    amounts = line_amounts(evaluator, one)
    known = {line.line: (line.end_line, line.code) for line in one.regime.regime.lines}
    numbers = sorted({*known, *(number for number, _ in amounts)})
    return tuple(
        LineCost(number, *known.get(number, (number, "")), *(amounts.get((number, n), 0) for n in PER_LINE))
        for number in numbers
    )
