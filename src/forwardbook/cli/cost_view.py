"""Costs for people: integers in, a table with units out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.cli.terminal import code_text

if TYPE_CHECKING:
    from forwardbook.calculator import Costs, LineCost

_LARGEST: Final = 10**300  # beyond it is no float
_ARITHMETIC: Final = ("flops", "pointwise_ops")
_BYTES: Final = ("reads", "writes", "weights", "boundary", "intermediates", "peak")


def cost_view(
    full_class_name: str,
    costs: Costs[int],
    lines: Sequence[LineCost[int]] = (),
    choices: Mapping[str, object] = MappingProxyType({}),
    calls: Sequence[tuple[str, str, int, int]] = (),
) -> RenderableType:
    """The quantities of one call, the choices it is of, the calls that it makes, and the cost of each line.

    Calls are the attribute, the class, how often it is called, and the flops of all of these.
    """
    heading = Text.assemble((full_class_name, "bold"), f", regime {costs.regime}")
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(justify="right", style="green")
    for quantity in _ARITHMETIC:
        table.add_row(quantity, f"{getattr(costs, quantity):,}", scaled(getattr(costs, quantity), 1000, "op"))
    for quantity in _BYTES:
        table.add_row(quantity, f"{getattr(costs, quantity):,}", scaled(getattr(costs, quantity), 1024, "B"))
    said = ", ".join(f"{name}={value}" for name, value in choices.items())
    head = [heading, Text(f"with {said}", style="dim")] if said else [heading]
    tables = [*([_call_table(calls)] if calls else []), *([_line_table(lines)] if lines else [])]
    return Group(*head, table, *(part for one in tables for part in ("", one)))


def _call_table(calls: Sequence[tuple[str, str, int, int]]) -> Table:
    table = Table(box=None, header_style="bold")
    for column in ("calls", "class"):
        table.add_column(column, overflow="fold")
    for column in ("times", "flops in all"):
        table.add_column(column, justify="right")
    for attribute, name, times, flops in calls:
        table.add_row(Text(attribute), Text(name), f"{times:,}", f"{flops:,}")
    return table


def _line_table(lines: Sequence[LineCost[int]]) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column("line", justify="right", style="dim")
    table.add_column("source", overflow="fold")
    for quantity in ("flops", "pointwise ops", "reads", "writes"):
        table.add_column(quantity, justify="right")
    for line in lines:
        amounts = (line.flops, line.pointwise_ops, line.reads, line.writes)
        table.add_row(
            str(line.line), code_text(line.code), *(f"{amount:,}" if amount else "" for amount in amounts)
        )
    return table


def scaled(amount: int, step: int, unit: str) -> str:
    """1536 bytes as `1.50 KiB`, 2000 operations as `2.00 Kop`."""
    prefixes = ("", "K", "M", "G", "T", "P", "E", "Z")
    power = 0
    while abs(amount) >= step ** (power + 1) and power + 1 < len(prefixes):
        power += 1
    if power == 0:
        return f"{amount} {unit}"
    if abs(amount) >= _LARGEST:
        return f"about 10**{len(str(abs(amount))) - 1} {unit}"
    return f"{amount / step**power:.2f} {prefixes[power]}{'i' if step == 1024 else ''}{unit}"
