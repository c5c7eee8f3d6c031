"""The totals of a phase in; its cost tree as boxes out, each layer beneath the one that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final, Literal

from forwardbook.book.site.data import CostTree, TreeBox
from forwardbook.formula.rational import Rational
from forwardbook.models.roofline import children
from forwardbook.models.totals import Numbers, Row, Totals

_MILLION: Final = 1_000_000
LEAST: Final = Fraction(1, 2000)
"""Share of the whole below which a layer is not drawn."""

Measure = Literal["flops", "moved"]


def cost_tree(totals: Totals, measure: Measure) -> CostTree | None:
    """The picture's boxes, None where nothing of it is spent."""
    whole = _amount(totals.rows[0].one, measure)
    if not whole:
        return None
    words = "flops" if measure == "flops" else "bytes read and written"
    title = f"{totals.phase}: where {int(whole):,} {words} go, layer beneath layer"
    return CostTree(title=title, boxes=tuple(_boxes(totals, measure, Fraction(whole))))


def _boxes(totals: Totals, measure: Measure, whole: Fraction) -> Iterator[TreeBox]:
    beneath = children(totals.rows)
    lefts: dict[int, Fraction] = {0: Fraction(0)}
    for index, row in enumerate(totals.rows):
        if index not in lefts:
            continue
        share = _share(row, measure, whole)
        if share < LEAST:
            continue
        yield _box(row, lefts[index], share)
        left = lefts[index]
        for child in beneath[index]:
            lefts[child] = left
            left += _share(totals.rows[child], measure, whole)


def _box(row: Row, left: Fraction, share: Fraction) -> TreeBox:
    class_name = row.class_name.rpartition(".")[2]
    total = row.one.times(row.times)
    calls = f"{row.times} calls of {class_name}" if row.times > 1 else class_name
    detail = f"{float(share):.2%}, {calls}, {int(total.flops):,} flops, {int(total.moved):,} bytes moved"
    return TreeBox(
        label=row.label or class_name,
        detail=detail,
        left=int(left * _MILLION),
        width=int(share * _MILLION),
        depth=row.depth,
    )


def _share(row: Row, measure: Measure, whole: Fraction) -> Fraction:
    return Fraction(_amount(row.one, measure)) * row.times / whole


def _amount(numbers: Numbers, measure: Measure) -> Rational:
    return numbers.flops if measure == "flops" else numbers.moved
