"""A proof for people: its points and judges in, tables of predicted against measured out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.cli.terminal import verdict_text

if TYPE_CHECKING:
    from forwardbook.schema import Proof, ProofPoint


def proof_view(proof: Proof) -> RenderableType:
    """The verdict, a table of points, and what the judges said."""
    parts: list[RenderableType] = [_headline(proof)]
    if proof.points:
        parts.append(_point_table(proof.points))
    for judge in proof.judges:
        agreed = judge.agreed == judge.asked
        remark = f" ({judge.remark})" if judge.remark else ""
        text = f"{judge.name} on {judge.quantity}: agreed {judge.agreed} of {judge.asked} times{remark}"
        parts.append(Text(text, style="" if agreed else "yellow"))
    return Group(*parts)


def _headline(proof: Proof) -> Text:
    text = Text.assemble(("proof ", "bold"), verdict_text(proof.verdict))
    text.append(
        f" on {proof.device}, {proof.dtype}: {len(proof.points)} random points, {proof.lines_checked} lines"
    )
    if proof.static_agrees is not None:
        text.append(f"; the static derivation {'agrees' if proof.static_agrees else 'differs'}")
    return text


def _point_table(points: tuple[ProofPoint, ...]) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("quantity")
    for number in range(1, len(points) + 1):
        table.add_column(f"point {number}", justify="right")
    shared = [name for name in points[0].sizes if all(name in point.sizes for point in points)]
    for name in shared:
        sizes = (Text(str(point.sizes[name]), "dim") for point in points)
        table.add_row(Text(name, "cyan"), *sizes)
    for quantity in points[0].predicted:
        table.add_row(Text(quantity, "bold"), *(_compared(point, quantity) for point in points))
    return table


def _compared(point: ProofPoint, quantity: str) -> Text:
    """One number where prediction and measurement are equal, both where they differ."""
    predicted, measured = point.predicted.get(quantity), point.measured.get(quantity)
    if predicted == measured and predicted is not None:
        return Text(f"{predicted:,} =", style="green")
    return Text(f"{_number(predicted)}, measured {_number(measured)}", style="bold red")


def _number(value: int | None) -> str:
    return "none" if value is None else f"{value:,}"
