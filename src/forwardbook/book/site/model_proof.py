"""The proofs of a model's phases in; tables of sizes, predictions and counts out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.blocks import Block, Bullets, Code, Heading, Paragraph, Table
from forwardbook.book.inline import code, plain
from forwardbook.book.site.data import Grid
from forwardbook.models.record import CostProof, ModelCosts, PhaseCosts
from forwardbook.schema import QUANTITIES


def proof_blocks(costs: ModelCosts) -> Iterator[Block]:
    """A part for each phase and regime."""
    yield Heading(2, "Proof")
    for number, phase in enumerate(costs.phases, 1):
        yield Heading(3, f"Proof {number}: {phase.phase}")
        yield from _proof(phase, phase.proof)
    unresolved = [each for phase in costs.phases for each in phase.unresolved]
    yield Heading(2, "Unresolved")
    if not unresolved:
        yield Paragraph("Nothing: every operation of these calls has a cost.")
    else:
        rows = tuple(
            (code(f"{each.file}:{each.line}"), code(each.operation), plain(each.reason))
            for each in unresolved
        )
        yield Table(("Place", "Operation", "Reason"), tuple(dict.fromkeys(rows)))


def _proof(phase: PhaseCosts, proof: CostProof) -> Iterator[Block]:
    conditions = ", ".join(code(each.replace("{", "").replace("}", "")) for each in phase.conditions)
    yield Paragraph(
        f"**{proof.verdict}** on {plain(proof.device)} in {plain(proof.dtype)}, whole model at full size"
        + (f", where {conditions}." if conditions else ".")
    )
    names = list(dict.fromkeys(name for point in proof.points for name in point.sizes))
    head = ("", *(f"Point {number}" for number in range(1, len(proof.points) + 1)))
    sizes = [(name, *(f"{point.sizes.get(name, 0):,}" for point in proof.points)) for name in names]
    amounts = [
        (
            name,
            *(_both(point.predicted.get(name), point.measured.get(name)) for point in proof.points),
        )
        for name in (*QUANTITIES, "cache")
        if any(name in point.predicted for point in proof.points)
    ]
    if proof.points:
        yield Code("fb-table", Grid(head=head, rows=(*sizes, *amounts)).as_json())
    yield Bullets(
        tuple(
            f"{plain(judge.name)} on {plain(judge.quantity)}: agreed {judge.agreed} of {judge.asked} times"
            for judge in proof.judges
        )
    )


def _both(predicted: int | None, measured: int | None) -> str:
    if predicted is None or predicted == measured:
        return "" if measured is None else f"{measured:,}"
    return (
        f"{predicted:,} predicted, {measured:,} measured"
        if measured is not None
        else f"{predicted:,} predicted"
    )
