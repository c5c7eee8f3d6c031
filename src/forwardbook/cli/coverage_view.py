"""Figures of the entries of own costs and calls in, what a person sees of them out."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.entries.figures import WANTED, Figures


def composed_view(one: Figures, size: int) -> RenderableType:
    """The verdicts in a line, then each figure beside the wanted one."""
    states = ", ".join(
        f"{getattr(one, name)} {name}" for name in ("exact", "bounded", "assumed", "pinned", "unproved")
    )
    told = f"own costs and calls: {one.classes} classes: {states}; {one.judged} with a judge in a proof"
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for number, name in enumerate(("own costs and calls", "is", "wanted")):
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    for row in _rows(one, size):
        table.add_row(*row)
    return Group(Text(told), Text(""), table)


def _rows(one: Figures, size: int) -> list[tuple[str, str, str]]:
    flops, peak = one.flops, one.peak
    regimes, signatures = one.regimes_of_class, one.signatures_of_class
    return [
        ("exact, of all classes", f"{100 * one.exact_share:.1f} %", f"{100 * WANTED.exact_share:.0f} %"),
        (
            "characters of own flops, median / p95 / longest",
            _joined(flops.median, flops.p95, flops.largest),
            _joined(*WANTED.flops),
        ),
        ("characters of own peak, p95 / longest", _joined(peak.p95, peak.largest), _joined(*WANTED.peak)),
        ("conditions of a regime, p95", f"{one.conditions.p95:,}", f"{WANTED.conditions:,}"),
        ("characters of the longest condition", f"{one.longest_condition:,}", f"{WANTED.longest_condition}"),
        (
            "regimes of a class, median / p95 / most",
            _joined(regimes.median, regimes.p95, regimes.largest),
            f"p95 {WANTED.regimes_of_class}",
        ),
        (
            "signatures of a class, median / p95 / most",
            _joined(signatures.median, signatures.p95, signatures.largest),
            "",
        ),
        ("megabytes on disk", f"{size / 1e6:,.1f}", ""),
    ]


def _joined(*numbers: float) -> str:
    return " / ".join(f"{one:,.0f}" if one == int(one) else f"{one:,.1f}" for one in numbers)
