"""Why an entry says what it says: its lines and operations in, the reason of every factor out; and checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from forwardbook.cli.terminal import code_text, formula_text, verdict_text

if TYPE_CHECKING:
    from forwardbook.pipeline.validate import Check
    from forwardbook.schema import Entry, FlopLine, MemoryLine, Regime


def explain_view(entry: Entry) -> RenderableType:
    """For each regime its reasoning, for each line its operations, then the rule of each operation."""
    parts: list[RenderableType] = []
    for regime in entry.regimes:
        title = Text(f"why: regime {regime.name}", style="bold")
        parts += ["", Rule(title, align="left", style="dim"), *_regime(regime)]
    names = {name for regime in entry.regimes for line in regime.flop_analysis.lines for name in _names(line)}
    if names:
        parts += ["", Rule(Text("why: the rules", style="bold"), align="left", style="dim"), *_rules(names)]
    return Group(*parts)


def _regime(regime: Regime) -> Iterator[RenderableType]:
    by_line = any(line.operations for line in regime.flop_analysis.lines)  # then the rules below say it all
    arithmetic = "" if by_line else regime.flop_analysis.reasoning
    for reasoning in (arithmetic, regime.memory_analysis.reasoning):
        if reasoning:
            yield Text(reasoning)
    moved = {(line.line, line.code): line for line in regime.memory_analysis.lines}
    for line in regime.flop_analysis.lines:
        yield ""
        yield Text.assemble((f"{line.line:>5}  ", "dim"), code_text(line.code))
        yield Padding(Group(*_amounts(line, moved.get((line.line, line.code)))), (0, 0, 0, 7))
        if line.operations:
            yield Padding(Text.assemble(("runs ", "dim"), ", ".join(line.operations)), (0, 0, 0, 7))
        if line.chain:
            yield Padding(Text.assemble(("through ", "dim"), " > ".join(line.chain)), (0, 0, 0, 7))


def _amounts(line: FlopLine, memory: MemoryLine | None) -> Iterator[Text]:
    amounts = [("flops", line.flops), ("pointwise ops", line.pointwise_ops)]
    if memory is not None:
        amounts += [("bytes read", memory.reads), ("bytes written", memory.writes)]
    for label, formula in amounts:
        if formula != "0":
            yield Text.assemble((f"{label} = ", "dim"), formula_text(formula))


def _names(line: FlopLine) -> Iterator[str]:
    """The names of operations in texts such as `aten.mm` or `3 x aten.mm`."""
    for text in line.operations:
        yield from re.findall(r"[A-Za-z_]\w*(?:\.\w+)+", text)


def _rules(names: Iterable[str]) -> Iterator[RenderableType]:
    """One paragraph for each rule that any of the operations fell under."""
    from forwardbook.analyzers.ops import rules

    wanted = set(names)
    for record in rules():
        met = [name for name in record.names if name in wanted]
        wanted.difference_update(met)
        if met:
            yield Text.assemble(
                (", ".join(met), "bold"), f": {record.reason} ", (f"({record.source})", "dim")
            )
    if wanted:
        yield Text.assemble(
            (", ".join(sorted(wanted)), "bold"), ": a view moves nothing and computes nothing"
        )


def check_view(check: Check) -> RenderableType:
    """A line that says whether proving again agreed, and beneath it each difference."""
    word, style = ("same", "bold green") if check.agrees else ("differs", "bold red")
    verdict = verdict_text(check.verdict)
    head = Text.assemble((f"{word:<8}", style), check.full_class_name, " ", verdict, (f" {check.key}", "dim"))
    return Group(head, *(Padding(Text(difference), (0, 0, 0, 8)) for difference in check.differences))
