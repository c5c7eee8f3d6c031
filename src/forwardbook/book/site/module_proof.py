"""The proofs of an entry in; tables of sizes, of what was predicted and of what was measured, out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forwardbook.book.blocks import Block, Bullets, Code, Heading, Paragraph
from forwardbook.book.inline import plain
from forwardbook.book.site.data import Grid
from forwardbook.schema import QUANTITIES, Entry, Proof, Regime
from forwardbook.verdicts import said_by

SHOWN: Final = 4
"""Points of a proof that are shown; the others agree as well, and the text says how many there are."""


def proof_blocks(entry: Entry) -> Iterator[Block]:
    """A section for the proofs, one part for each regime that has one."""
    proved = [(regime, regime.proof) for regime in entry.regimes if regime.proof is not None]
    if not proved:
        return
    yield Heading(2, "Proof")
    for regime, proof in proved:
        if len(entry.regimes) > 1:
            yield Heading(3, f"Proof: {plain(regime.name)}")
        yield from _proof(regime, proof)


def _proof(regime: Regime, proof: Proof) -> Iterator[Block]:
    static = {True: "; the static derivation agrees", False: "; the static derivation differs", None: ""}
    yield Paragraph(
        f"**{proof.verdict}** on {plain(proof.device)} in {plain(proof.dtype)}: "
        f"{len(proof.points)} random points, {proof.lines_checked} lines compared"
        f"{static[proof.static_agrees]}. {f'{plain(proof.reason)}. ' if proof.reason else ''}"
        "A cell with one number was predicted and measured alike; else both stand there."
    )
    points = proof.points[:SHOWN]
    if points:
        head = ("", *(f"Point {number}" for number in range(1, len(points) + 1)))
        sizes = [(name, *(_number(point.sizes.get(name)) for point in points)) for name in regime.parameters]
        amounts = [
            (name, *(_both(point.predicted.get(name), point.measured.get(name)) for point in points))
            for name in QUANTITIES
        ]
        yield Code("fb-table", Grid(head=head, rows=(*sizes, *amounts)).as_json())
    further = sum(point.predicted == point.measured for point in proof.points[SHOWN:])
    if len(proof.points) > SHOWN:
        yield Paragraph(f"Of {len(proof.points) - SHOWN} further points {further} agree in every number.")
    yield Bullets(
        tuple(
            f"{plain(judge.name)} on {plain(judge.quantity)}: agreed {judge.agreed} of {judge.asked} times"
            + (f"; {plain(said_by(judge))}" if judge.disagrees else "")
            + (f" ({plain(judge.remark)})" if judge.remark else "")
            for judge in proof.judges
        )
    )


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _both(predicted: int | None, measured: int | None) -> str:
    if predicted == measured:
        return _number(predicted)
    return f"{_number(predicted)} predicted, {_number(measured)} measured"
