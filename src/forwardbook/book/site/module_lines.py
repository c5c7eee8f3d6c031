"""An entry and the source of its class in; the listing with the cost of every line out."""

from __future__ import annotations

from collections.abc import Iterable

from forwardbook.book.site.data import Listing, SourceLine
from forwardbook.book.site.module_subject import ModuleSubject
from forwardbook.printable import printable
from forwardbook.schema import Formula, Regime

Costs = dict[str, dict[str, Formula]]


def module_listing(subject: ModuleSubject) -> Listing:
    """The source of the class where it can be read, else the lines that issue operations."""
    regimes = subject.holder.regimes
    costs, code, ends, operations = _by_line(regimes)
    numbers = sorted(subject.source or code)
    lines = tuple(
        SourceLine(
            number=number,
            code=printable(subject.source.get(number, code.get(number, ""))),
            end=ends.get(number, 0),
            operations=operations.get(number, ()),
            regimes=costs.get(number, {}),
        )
        for number in numbers
    )
    return Listing(
        file=subject.holder.code_location.file,
        regimes=tuple(regime.name for regime in regimes),
        lines=lines,
        complete=bool(subject.source),
    )


def _by_line(
    regimes: Iterable[Regime],
) -> tuple[dict[int, Costs], dict[int, str], dict[int, int], dict[int, tuple[str, ...]]]:
    """By number of line: its costs, its code, where its statement ends and the operations it issues."""
    costs: dict[int, Costs] = {}
    code: dict[int, str] = {}
    ends: dict[int, int] = {}
    operations: dict[int, tuple[str, ...]] = {}
    for regime in regimes:
        for flop in regime.flop_analysis.lines:
            _add(costs, flop.line, regime.name, {"flops": flop.flops, "pointwise_ops": flop.pointwise_ops})
            code.setdefault(flop.line, flop.code)
            ends.setdefault(flop.line, flop.end_line)
            operations[flop.line] = tuple(dict.fromkeys((*operations.get(flop.line, ()), *flop.operations)))
        for memory in regime.memory_analysis.lines:
            _add(costs, memory.line, regime.name, {"reads": memory.reads, "writes": memory.writes})
            code.setdefault(memory.line, memory.code)
            ends.setdefault(memory.line, memory.end_line)
    return costs, code, ends, operations


def _add(costs: dict[int, Costs], line: int, regime: str, found: dict[str, Formula]) -> None:
    amounts = {name: formula for name, formula in found.items() if formula != "0"}
    if amounts:
        costs.setdefault(line, {}).setdefault(regime, {}).update(amounts)
