"""A model and a phase in, a table of its costs over lengths and batches out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forwardbook.book.blocks import Block, Heading, Paragraph, Table
from forwardbook.book.inline import plain
from forwardbook.book.site.amounts import binary, count
from forwardbook.book.site.model_subject import WIDTHS, ModelSubject
from forwardbook.errors import ForwardbookError
from forwardbook.models.record import POSITIONS
from forwardbook.models.roofline import timings
from forwardbook.models.totals import evaluate, holding

LENGTHS: Final = (128, 512, 2048, 8192, 32768)
BATCHES: Final = (1, 8, 64)
DEVICE: Final = "h100-sxm"


def sweep_blocks(subject: ModelSubject, phase: str, sizes: dict[str, int]) -> Iterator[Block]:
    """The table; sizes at which no formulas of the model are kept have no row."""
    length = next((name for name in ("kv_len", "seq_len") if name in sizes), "")
    rows = [
        row
        for batch in BATCHES
        for value in (LENGTHS if length else (0,))
        if (
            row := _row(
                subject, phase, {**sizes, "batch_size": batch, **({length: value} if length else {})}, length
            )
        )
    ]
    if len(rows) < 2:
        return
    yield Heading(2, f"Sweep of {phase}")
    yield Paragraph(
        "16 bit; the time is the least on an H100 SXM: layer after layer with every operation moving its "
        "bytes, and with none."
    )
    longest = max((sizes | ({length: LENGTHS[-1]} if length else {})).get(name, 0) for name in POSITIONS)
    if caution := subject.caution({"seq_len": longest}):
        yield Paragraph(f"Note: up to {caution}.")
    head = (
        "Batch",
        *([plain(length)] if length else []),
        "Flops",
        "Bytes moved",
        "Peak",
        "Flop/B",
        "Eager, ms",
        "Fused, ms",
    )
    yield Table(head, tuple(rows))


def _row(subject: ModelSubject, phase: str, sizes: dict[str, int], length: str) -> tuple[str, ...] | None:
    try:
        costs = holding(subject.costs.phases, phase, sizes, WIDTHS)
    except ForwardbookError:
        return None
    totals = evaluate(costs, sizes, WIDTHS)
    found = totals.total
    device = next((each for each in subject.devices if each.id == DEVICE), None)
    time = timings(totals, device)[0] if device else None
    return (
        f"{sizes['batch_size']}",
        *([f"{sizes[length]:,}"] if length else []),
        count(int(found.flops)),
        binary(int(found.moved)),
        binary(int(found.peak)),
        f"{float(found.flops / found.moved):,.1f}" if found.moved else "",
        *((f"{time.eager * 1e3:,.3f}", f"{time.fused * 1e3:,.3f}") if time else ("", "")),
    )
