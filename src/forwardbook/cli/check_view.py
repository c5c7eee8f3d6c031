"""Findings in; out what a person sees of them: tables of lines, budgets, what could not be told."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.guard.change import Amount, ClassChange, LineChange, RegimeChange
from forwardbook.guard.findings import Findings, percent, shown_sizes
from forwardbook.guard.kept import Kept


def findings_view(findings: Findings) -> RenderableType:
    """All of it; what is within the tolerance is dim."""
    parts: list[RenderableType] = []
    for change in findings.changed:
        parts += [*_class(change, change.is_beyond(findings.tolerance)), ""]
    if findings.budgets:
        parts += [_budgets(findings.budgets), ""]
    for trouble in findings.troubles:
        parts.append(Text(f"{trouble.full_class_name}: cannot be told: {trouble.reason}", "red"))
    for side, names in zip(findings.sides, findings.only, strict=True):
        if names:
            shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
            parts.append(Text(f"only in {side}: {shown}", "dim"))
    return Group(*parts)


def _class(change: ClassChange, is_beyond: bool) -> Iterator[RenderableType]:
    style = "bold red" if is_beyond else "bold"
    heading = Text.assemble((change.full_class_name, style), f"  {change.file}:{change.line}")
    was, now = change.verdicts
    heading.append(f"  {was} -> {now}" if was != now else "", "yellow")
    yield heading
    if change.reasons:
        yield Text("; ".join(change.reasons), "dim")
    if change.remark:
        yield Text(change.remark, "yellow")
    for regime in change.regimes:
        if regime.state != "same":
            yield from _regime(regime)


def _regime(one: RegimeChange) -> Iterator[RenderableType]:
    if one.state in ("gone", "new"):
        yield Text(f"regime {one.name} is {one.state}")
        return
    at = f" at {shown_sizes(one.sizes.values)} ({one.sizes.origin})" if one.sizes is not None else ""
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
    _rows(table, "", Text("total", "bold"), one.amounts)
    yield table


def _place(line: LineChange) -> tuple[str, Text]:
    if line.line:
        return str(line.line), Text(line.code, overflow="fold")
    return str(line.before_line), Text(f"(gone) {line.before_code}", "dim", overflow="fold")


def _rows(table: Table, line: str, source: Text, amounts: tuple[Amount, ...]) -> None:
    for number, one in enumerate(amounts):
        share = percent(one.share)
        style = "green" if share.startswith("-") else "red"
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
