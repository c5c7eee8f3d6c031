"""The lines of forward() in two states of a class in; out which line became which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from forwardbook.schema import Regime


@dataclass(frozen=True, slots=True)
class LineFormulas:
    """One line with the formulas of its cost."""

    line: int
    end_line: int
    code: str
    flops: str = "0"
    pointwise_ops: str = "0"
    reads: str = "0"
    writes: str = "0"

    def formula(self, quantity: str) -> str:
        """The formula of a quantity that is told by line."""
        return str(getattr(self, quantity))


Pair = tuple[LineFormulas | None, LineFormulas | None]


def line_formulas(regime: Regime) -> list[LineFormulas]:
    """Each line of a regime once, in order, with all four formulas."""
    moved = {(x.line, x.code): x for x in regime.memory_analysis.lines}
    made: dict[tuple[int, str], LineFormulas] = {}
    for one in regime.flop_analysis.lines:
        beside = moved.pop((one.line, one.code), None)
        reads, writes = (beside.reads, beside.writes) if beside else ("0", "0")
        made[one.line, one.code] = LineFormulas(
            one.line, one.end_line, one.code, one.flops, one.pointwise_ops, reads, writes
        )
    for rest in moved.values():
        made[rest.line, rest.code] = LineFormulas(
            rest.line, rest.end_line, rest.code, reads=rest.reads, writes=rest.writes
        )
    return [made[place] for place in sorted(made)]


def paired(before: Sequence[LineFormulas], after: Sequence[LineFormulas]) -> Iterator[Pair]:
    """Lines with the same code belong together, in order; between them the first to the first, and so on."""
    was, now = ([one.code for one in side] for side in (before, after))
    for kind, i, j, k, n in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from zip(before[i:j], after[k:n], strict=True)
            continue
        for place in range(max(j - i, n - k)):
            yield (
                before[i + place] if i + place < j else None,
                after[k + place] if k + place < n else None,
            )
