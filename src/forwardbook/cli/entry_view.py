"""An entry for people: formulas, source with a cost per line, proof and what is unresolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from forwardbook.cli.proof_view import proof_view
from forwardbook.cli.terminal import code_text, formula_text, verdict_text

if TYPE_CHECKING:
    from forwardbook.calculator import LineCost
    from forwardbook.schema import Entry, Regime

_CONDITIONS: Final = 4  # of each further regime, in brief


def entry_view(key: str, entry: Entry, holder: Entry | None = None, brief: bool = False) -> RenderableType:
    """The whole of an entry, if brief only its first regime; `holder` is the entry that has its formulas."""
    return Group(*_parts(key, entry, holder or entry, brief))


def _parts(key: str, entry: Entry, holder: Entry, brief: bool) -> Iterator[RenderableType]:
    yield _heading(key, entry)
    if not holder.regimes:
        yield Text("no formulas are stored", style="yellow")
    for regime in holder.regimes[: 1 if brief else None]:
        yield ""
        yield Rule(Text(f"regime {regime.name}", style="bold"), align="left", style="dim")
        yield from _regime_parts(regime)
    if brief and holder.regimes[1:]:
        yield ""
        yield Rule(Text("further regimes", style="bold"), align="left", style="dim")
        yield _regime_table(holder.regimes[1:])
        yield Text(f"in full: forwardbook show {key}", style="dim")
    if holder.parameters:
        yield ""
        yield _parameter_table(holder)
    if entry.unresolved:
        yield ""
        yield _unresolved_table(entry)


def _heading(key: str, entry: Entry) -> Panel:
    place = entry.code_location
    text = Text.assemble(("verdict ", "dim"), verdict_text(entry.validation.verdict))
    if entry.validation.human_validated:
        text.append(", validated by a person")
    if entry.validation.reason:
        text.append(f": {entry.validation.reason}")
    if entry.derived_by:
        text.append(f"\nderived by {', '.join(entry.derived_by)}", style="dim")
    text.append(f"\n{place.file}:{place.line_start}-{place.line_end}", style="dim")
    text.append(
        "".join(f", {name} {version}" for name, version in sorted(entry.versions.items())), style="dim"
    )
    if entry.same_as:
        text.append(f"\nforward() is the same as that of {entry.same_as}")
    return Panel(
        text, title=Text(entry.full_class_name, style="bold"), title_align="left", subtitle=Text(key, "dim")
    )


def _regime_parts(regime: Regime) -> Iterator[RenderableType]:
    from forwardbook.generate import line_formulas
    from forwardbook.saying import TIMES, together
    from forwardbook.schema import QUANTITIES

    if regime.context:
        yield Text(regime.context)
    given = [one or "nothing" for one in regime.given]
    told = (("given", given), ("holds when", regime.conditions), ("assumes", together(regime.assumptions)))
    for label, texts in told:
        for number, text in enumerate(texts):
            label_text = Text(f"{label if number == 0 else '':<11}", style="dim")
            yield Text.assemble(label_text, formula_text(text))
    totals = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    totals.add_column(style="bold", no_wrap=True)
    totals.add_column(overflow="fold")
    for quantity in QUANTITIES:
        totals.add_row(quantity, formula_text(regime.formula(quantity)))
    yield Padding(totals, (1, 0, 0, 0))
    lines = line_formulas(regime)
    if lines:
        yield Padding(_line_table(lines), (1, 0, 0, 0))
    if regime.flop_analysis.submodule_calls:
        yield Padding(_call_table(regime), (1, 0, 0, 0))
        if any(call.times != "1" for call in regime.flop_analysis.submodule_calls):
            yield Text(f"times: {TIMES}", style="dim")
    if regime.proof is not None:
        yield Padding(proof_view(regime.proof, regime.parameters), (1, 0, 0, 0))


def _regime_table(regimes: Iterable[Regime]) -> Table:
    """One row per regime: when it holds, its flops, what the proof said."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column, ratio in (("regime", 3), ("holds when", 4), ("flops", 6)):
        table.add_column(column, overflow="fold", ratio=ratio)
    table.add_column("proof", no_wrap=True)
    for regime in regimes:
        conditions = Text("\n").join(formula_text(text) for text in regime.conditions[:_CONDITIONS])
        if regime.conditions[_CONDITIONS:]:
            conditions.append(f"\nand {len(regime.conditions) - _CONDITIONS} more", "dim")
        verdict = verdict_text(regime.proof.verdict if regime.proof is not None else "unproved")
        flops = formula_text(regime.flop_analysis.flops)
        table.add_row(Text(regime.name), conditions, flops, verdict)
    return table


def _line_table(lines: list[LineCost[str]]) -> Table:
    """The source, and beside each line what it costs; lines that cost nothing have nothing beside them."""
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("line", justify="right", style="dim", no_wrap=True)
    table.add_column("source", overflow="fold", ratio=2)
    table.add_column("cost", overflow="fold", ratio=3)
    for line in lines:
        table.add_row(str(line.line), code_text(line.code), _amounts(line))
    return table


def _amounts(line: LineCost[str]) -> Table:
    """What is not zero of a line: a name and a formula in each row."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    labels = ("flops", "pointwise", "reads", "writes")
    for label, amount in zip(labels, (line.flops, line.pointwise_ops, line.reads, line.writes), strict=True):
        if amount != "0":
            grid.add_row(f"{label:<9}", formula_text(amount))
    return grid


def _call_table(regime: Regime) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("line", "calls", "class", "times", "with"):
        table.add_column(column, overflow="fold")
    for call in regime.flop_analysis.submodule_calls:
        bindings = Text(", ").join(
            Text.assemble(f"{name} = ", formula_text(formula)) for name, formula in call.bindings.items()
        )
        table.add_row(
            str(call.line), Text(call.attribute), Text(call.class_name), formula_text(call.times), bindings
        )
    return table


def _parameter_table(entry: Entry) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("name", "meaning", "source"):
        table.add_column(column, overflow="fold")
    for parameter in entry.parameters:
        table.add_row(Text(parameter.name, "cyan"), Text(parameter.meaning), Text(parameter.source, "dim"))
    return table


def _unresolved_table(entry: Entry) -> Table:
    title = Text("unresolved: not counted, not zero", style="bold yellow")
    table = Table(box=None, header_style="bold", title=title, title_justify="left", padding=(0, 2, 0, 0))
    for column in ("place", "operation", "reason"):
        table.add_column(column, overflow="fold")
    for hole in entry.unresolved:
        table.add_row(Text(f"{hole.file}:{hole.line}"), Text(hole.operation), Text(hole.reason))
    return table
