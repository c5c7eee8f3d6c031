"""Lines that a run recorded in; the lines of the record out: statements of the source, and why they cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forwardbook.analyzers.ops import rules
from forwardbook.analyzers.reader import line_map
from forwardbook.analyzers.symbolic.summary import LineSummary
from forwardbook.cost import Cost
from forwardbook.formula import Expr
from forwardbook.schema import FlopLine, MemoryLine

Line = tuple[str, int, int, str, Cost, dict[str, int], tuple[str, ...]]
"""File, first and last line, code, cost, how often each operation ran, the calls on the way to them."""


def text(size: object) -> str:
    """A size in the formula language."""
    return Expr.of(size).text()  # type: ignore[arg-type]


def statements(lines: Iterable[LineSummary]) -> Iterable[Line]:
    """Lines rolled up to the statements of the source they belong to."""
    rolled: dict[tuple[str, int, int], list[LineSummary]] = {}
    for line in lines:
        file, start, end = line.key
        span = line_map(file).statement(start) if file and start else None
        key = (file, span.line, span.end_line) if span is not None else (file, start, end)
        rolled.setdefault(key, []).append(line)
    for (file, start, end), members in sorted(rolled.items()):
        operations: dict[str, int] = {}
        for member in members:
            for name, count in member.operations:
                operations[name] = operations.get(name, 0) + count
        chain = tuple(dict.fromkeys(step for member in members for step in member.chain))
        code = line_map(file).code(start) if file and start else ""
        yield file, max(start, 1), max(end, 1), code, Cost.total(m.cost for m in members), operations, chain


def flop_line(
    file: str, start: int, end: int, code: str, cost: Cost, operations: dict[str, int], chain: tuple[str, ...]
) -> FlopLine:
    """What a statement computes."""
    return FlopLine(
        line=start,
        end_line=end,
        code=code,
        flops=text(cost.flops),
        pointwise_ops=text(cost.pointwise_ops),
        operations=tuple(f"{name} x{n}" if n > 1 else name for name, n in sorted(operations.items())),
        chain=chain,
    )


def memory_line(
    file: str, start: int, end: int, code: str, cost: Cost, operations: dict[str, int], chain: tuple[str, ...]
) -> MemoryLine:
    """What it reads and writes."""
    return MemoryLine(line=start, end_line=end, code=code, reads=text(cost.reads), writes=text(cost.writes))


def reasoning(lines: Sequence[Line]) -> str:
    """What each line runs and why it costs what it costs, from the rules' own reasons."""
    reasons = {name: record.reason for record in rules() for name in record.names}
    said: list[str] = []
    for _, start, _, code, cost, operations, _ in lines:
        if not cost.flops and not cost.pointwise_ops:
            continue
        stated = [name for name in sorted(operations) if name in reasons and _counts(name)]
        why = [f"{name}: {reasons[name]}" for name in stated]
        said.append(f"Line {start}, `{code}`: " + "; ".join(why) + ".")
    return "\n".join(said)


def _counts(name: str) -> bool:
    return not name.startswith(("aten.view", "aten.t", "aten.transpose", "aten._unsafe_view"))
