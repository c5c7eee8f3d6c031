"""An entry for people: formulas, source with a cost per line, proof and what is unresolved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

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


def entry_view(key: str, entry: Entry, holder: Entry | None = None) -> RenderableType:
    """The whole of an entry; `holder` is the entry it shares its formulas with."""
    return Group(*_parts(key, entry, holder or entry))


def _parts(key: str, entry: Entry, holder: Entry) -> Iterator[RenderableType]:
    yield _heading(key, entry)
    if not holder.regimes:
        yield Text("no formulas are stored", style="yellow")
    for regime in holder.regimes:
        yield ""
        yield Rule(Text(f"regime {regime.name}", style="bold"), align="left", style="dim")
        yield from _regime_parts(regime)
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
    from forwardbook.schema import QUANTITIES

    if regime.context:
        yield Text(regime.context)
    for label, texts in (("holds when", regime.conditions), ("assumes", regime.assumptions)):
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
    if regime.proof is not None:
        yield Padding(proof_view(regime.proof), (1, 0, 0, 0))


def _line_table(lines: list[LineCost[str]]) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("line", justify="right", style="dim", no_wrap=True)
    table.add_column("source", overflow="fold", ratio=5)
    for column, ratio in (("flops", 4), ("pointwise ops", 4), ("bytes read", 5), ("bytes written", 4)):
        table.add_column(column, overflow="fold", ratio=ratio)
    for line in lines:
        amounts = (line.flops, line.pointwise_ops, line.reads, line.writes)
        cells = [formula_text(amount) if amount != "0" else Text("") for amount in amounts]
        table.add_row(str(line.line), code_text(line.code), *cells)
    return table


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
