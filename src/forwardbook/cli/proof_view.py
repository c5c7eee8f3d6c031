"""A proof for people: its points and judges in, tables of predicted against measured out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.cli.terminal import verdict_text
from forwardbook.verdicts import said_by

if TYPE_CHECKING:
    from forwardbook.schema import Judge, Proof, ProofPoint

_SHOWN: Final = 4  # points in the table; a person reads a few, the entry holds all


def proof_view(proof: Proof, names: Collection[str] = ()) -> RenderableType:
    """The verdict, a table of some points with the sizes that `names` lists, and what the judges said."""
    return Group(_headline(proof), *points_and_judges(proof.points, proof.judges, names))


def points_and_judges(
    points: tuple[ProofPoint, ...], judges: Iterable[Judge], names: Collection[str] = ()
) -> Iterator[RenderableType]:
    """A table of some points, how many more there are, and what each judge said."""
    shown = _shown(points)
    if shown:
        yield _point_table(shown, names)
    if len(points) > len(shown):
        yield Text(f"and {len(points) - len(shown)} more points, equal in every number", "dim")
    for judge in judges:
        said = f"; {said_by(judge)}" if judge.disagrees else ""
        remark = f" ({judge.remark})" if judge.remark else ""
        text = f"{judge.name} on {judge.quantity}: agreed {judge.agreed} of {judge.asked} times{said}{remark}"
        yield Text(text, style="bold red" if judge.disagrees else "")


def _headline(proof: Proof) -> Text:
    text = Text.assemble(("proof ", "bold"), verdict_text(proof.verdict))
    text.append(
        f" on {proof.device}, {proof.dtype}: {len(proof.points)} random points, {proof.lines_checked} lines"
    )
    if proof.reason:
        text.append(f"; because {proof.reason}")
    if proof.static_agrees is not None:
        text.append(f"; the static derivation {'agrees' if proof.static_agrees else 'differs'}")
    return text


def _shown(points: tuple[ProofPoint, ...]) -> tuple[ProofPoint, ...]:
    """All points if they are few or one of them differs, else some from beginning to end."""
    if len(points) <= _SHOWN or any(point.predicted != point.measured for point in points):
        return points
    return tuple(points[number * len(points) // _SHOWN] for number in range(_SHOWN))


def _point_table(points: tuple[ProofPoint, ...], names: Collection[str]) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("quantity")
    for number in range(1, len(points) + 1):
        table.add_column(f"point {number}", justify="right")
    shared = [name for name in points[0].sizes if all(name in point.sizes for point in points)]
    shared = [name for name in shared if not names or name in names]
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
