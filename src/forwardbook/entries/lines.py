"""An evaluation in; what each line of forward() costs, the calls on it among it, out."""

from __future__ import annotations

from collections import Counter

from forwardbook.calculator import LineCost
from forwardbook.calculator.composed import SUMMED
from forwardbook.entries.evaluate import Evaluation, Evaluator
from forwardbook.entries.expressions import expression
from forwardbook.entries.record import Line, Regime
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
    """The lines of the regime, and those that only call, with these amounts."""
    lines = lines_of(one.regime.regime)
    amounts: Counter[tuple[int, str]] = Counter()
    for (number, name), amount in line_amounts(evaluator, one).items():
        amounts[_line_at(lines, number), name] += amount
    return tuple(
        LineCost(line.line, line.end_line, line.code, *(amounts[line.line, name] for name in PER_LINE))
        for line in lines
    )


def lines_of(regime: Regime) -> list[Line]:
    """The lines with a cost of their own, and those that only call; of the latter the calls are the code."""
    calls: dict[int, dict[str, None]] = {}
    for call in regime.calls:
        if not any(line.line <= call.line <= line.end_line for line in regime.lines):
            calls.setdefault(call.line, {})[f"self.{call.attribute}(...)"] = None
    only = [Line(line=number, end_line=number, code=", ".join(codes)) for number, codes in calls.items()]
    return sorted([*regime.lines, *only], key=lambda line: line.line)


def _line_at(lines: list[Line], number: int) -> int:
    """The number of the line that a number is of: its own, or that of the first that goes over it."""
    over = (line.line for line in lines if line.line <= number <= line.end_line)
    return number if any(line.line == number for line in lines) else next(over, number)
