"""Findings in; out what a person sees of them: tables of lines, budgets, what could not be told."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.guard.change import Amount, ClassChange, LineChange, RegimeChange
from forwardbook.guard.findings import Findings, percent, shown_sizes, state_of
from forwardbook.guard.kept import Kept

SHOWN: Final = ("flops", "pointwise_ops", "reads", "writes", "peak")
"""The totals that a row of an unchanged class has; reports have all."""


def findings_view(findings: Findings) -> RenderableType:
    """All of it; what is within the tolerance is dim."""
    parts: list[RenderableType] = []
    for change in findings.changed:
        parts += [*_class(change, findings.tolerance), ""]
    parts += _unchanged(findings)
    if findings.budgets:
        parts += [_budgets(findings.budgets), ""]
    for trouble in findings.troubles:
        parts.append(Text(f"{trouble.full_class_name}: cannot be told: {trouble.reason}", "red"))
    for side, names in zip(findings.sides, findings.only, strict=True):
        if names:
            shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
            parts.append(Text(f"only in {side}: {shown}", "dim"))
    return Group(*parts)


def _unchanged(findings: Findings) -> Iterator[RenderableType]:
    """A row for each class that is as it was: what was compared, at which sizes."""
    if not findings.unchanged:
        return
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("unchanged", "regime", "at", *SHOWN):
        table.add_column(column, overflow="fold", justify="right" if column in SHOWN else "left")
    for change in findings.unchanged:
        for one in change.regimes:
            totals = {amount.quantity: _number(amount.now) for amount in one.totals}
            at = f"{shown_sizes(one.sizes.values)} ({one.sizes.origin})" if one.sizes is not None else ""
            table.add_row(Text(change.full_class_name), Text(one.name), at, *(totals[q] for q in SHOWN))
    yield table
    if findings.unchanged_count > len(findings.unchanged):
        yield Text(f"and {findings.unchanged_count - len(findings.unchanged)} more unchanged", "dim")
    yield ""


def _class(change: ClassChange, tolerance: Fraction) -> Iterator[RenderableType]:
    state = state_of(change, tolerance)
    style = {"improved": "bold green", "changed": "bold"}.get(state, "bold red")
    heading = Text.assemble(
        (change.full_class_name, style), f"  {change.file}:{change.line}  ", (state, style)
    )
    was, now = change.verdicts
    heading.append(f"  {was} -> {now}" if was != now else "", "yellow")
    yield heading
    if change.reasons:
        yield Text("; ".join(change.reasons), "dim")
    if change.remark:
        yield Text(change.remark, "yellow")
    for default in change.defaults:
        place = f"  {default.file}:{default.line}  {default.code}" if default.line else ""
        yield Text.assemble((default.text, "yellow"), place)
    for regime in change.regimes:
        if regime.state != "same":
            yield from _regime(regime)


def _regime(one: RegimeChange) -> Iterator[RenderableType]:
    if one.state in ("gone", "new"):
        yield Text(f"regime {one.name} is {one.state}")
        return
    sizes = f" at {shown_sizes(one.sizes.values, one.now_sizes)}" if one.sizes is not None else ""
    at = f"{sizes} ({one.sizes.origin})" if one.sizes is not None else ""
    yield Text(f"regime {one.name}{at}{f': {one.remark}' if one.remark else ''}")
    if set(one.conditions[0]) != set(one.conditions[1]):
        before, after = (" and ".join(texts) or "always" for texts in one.conditions)
        yield Text(f"held when {before}, now when {after}")
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("line", "source", "quantity"):
        table.add_column(column, overflow="fold", justify="right" if column == "line" else "left")
    for column in ("before", "after", "change"):
        table.add_column(column, justify="right", no_wrap=True)
    for line in one.lines:
        _rows(table, *_place(line), line.amounts)
    _rows(table, "", Text("total", "bold"), one.totals or one.amounts)
    yield table


def _place(line: LineChange) -> tuple[str, Text]:
    if line.line:
        return str(line.line), Text(line.code, overflow="fold")
    return str(line.before_line), Text(f"(gone) {line.before_code}", "dim", overflow="fold")


def _rows(table: Table, line: str, source: Text, amounts: tuple[Amount, ...]) -> None:
    for number, one in enumerate(amounts):
        share = percent(one.share)
        style = "green" if share.startswith("-") else "red" if share != "0 %" else "dim"
        place = (line, source) if number == 0 else ("", Text())
        table.add_row(*place, one.quantity, _number(one.was), _number(one.now), Text(share, style))


def _budgets(rows: tuple[Kept, ...]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("class", "quantity", "budget", "value", ""):
        table.add_column(column, overflow="fold", justify="right" if column == "value" else "left")
    for one in rows:
        state = Text("kept", "green") if one.is_kept else Text("broken", "bold red")
        if one.value is None:
            state = Text(one.problem, "bold red", overflow="fold")
        names = (Text(one.full_class_name), one.budget.quantity, Text(one.budget.text))
        table.add_row(*names, _number(one.value), state)
    return table


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"
