"""The totals of model types in, the page with what was measured, by formula, and over the tree, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from forwardbook.book.blocks import Block, Heading, Paragraph, Table
from forwardbook.book.inline import code, plain
from forwardbook.book.page import Page

QUANTITIES = {
    "flops": "FLOPs",
    "pointwise_ops": "Pointwise",
    "reads": "Bytes read",
    "writes": "Bytes written",
}


@dataclass(frozen=True)
class TotalsRow:
    """One model type; `measured`, `formula` and `tree` are its three accounts by quantity."""

    model_type: str
    model: str
    calls: int
    equal: int
    measured: Mapping[str, int] = field(default_factory=dict)
    formula: Mapping[str, int] = field(default_factory=dict)
    tree: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""

    @property
    def agrees(self) -> bool:
        """Whether formulas speak of the run and every account that there is says what was measured."""
        told = self.calls > 0 and self.calls == self.equal and self.formula in ({}, self.measured)
        return told and bool(self.measured) and self.measured == self.tree


def totals_page(rows: Mapping[str, Sequence[TotalsRow]]) -> Page:
    """A table for each library that has model types."""
    return Page("totals.md", {"title": "Whole models"}, tuple(_blocks(rows)))


def _blocks(rows: Mapping[str, Sequence[TotalsRow]]) -> Iterator[Block]:
    yield Heading(1, "Whole models")
    yield Paragraph(
        "One model of each type was built on the meta device in its default widths, with few layers, and "
        "called. Beside what was measured stands what the formula of the model itself gives, and the sum "
        "over its tree: of the innermost classes with an entry what their formulas give, and what others do "
        "beside them. "
        "`forwardbook catalogue totals` makes this page."
    )
    if not any(rows.values()):
        yield Paragraph("No totals were taken yet.")
    for library, found in sorted(rows.items()):
        ran = [one for one in found if one.measured]
        yield Heading(2, plain(library))
        yield Paragraph(
            f"Of {len(found)} model types {len(ran)} ran; in {sum(map(_agrees, ran))} all accounts agree. "
            f"Of {sum(not one.calls for one in ran)} no entry speaks: their classes were derived in a model "
            "of another type, in the names of its config, or have no formulas."
        )
        yield Table(_HEAD, tuple(_cells(one) for one in ran))
        refused = [(plain(one.model_type), plain(one.problem)) for one in found if not one.measured]
        if refused:
            yield Heading(3, f"{plain(library)}: did not run")
            yield Table(("Model type", "Reason"), tuple(refused))


_HEAD = ("Model type", "Model", "Calls equal", *QUANTITIES.values(), "By formula", "Over the tree")


def _agrees(one: TotalsRow) -> bool:
    return one.agrees


def _cells(one: TotalsRow) -> tuple[str, ...]:
    measured = (f"{one.measured[name]:,}" for name in QUANTITIES)
    told = (_against(account, one.measured) for account in (one.formula, one.tree))
    return (plain(one.model_type), code(one.model), f"{one.equal} of {one.calls}", *measured, *told)


def _against(account: Mapping[str, int], measured: Mapping[str, int]) -> str:
    """`equal`, or each quantity that differs with its number."""
    if not account:
        return "no formula"
    other = [f"{QUANTITIES[name]} {value:,}" for name, value in account.items() if value != measured[name]]
    return ", ".join(other) or "equal"
