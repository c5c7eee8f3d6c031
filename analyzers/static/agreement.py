"""Two summaries of one call in, from reading and from running it; every formula in which they differ out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.ops import Size
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.formula import Expr

_FIELDS = ("flops", "pointwise_ops", "reads", "writes")


def differences(read: Summary, ran: Summary) -> Iterator[str]:
    """The quantities, then the lines, that are not the same polynomial: which, and what either says."""
    ours, theirs = read.quantities(), ran.quantities()
    for name in theirs:
        if not same(ours[name], theirs[name]):
            yield f"{name}: read {Expr.of(ours[name]).text()}, run {Expr.of(theirs[name]).text()}"
    lines = {line.key: line.cost for line in read.lines}
    others = {line.key: line.cost for line in ran.lines}
    for key in sorted(lines.keys() | others.keys()):
        for name in _FIELDS:
            mine = getattr(lines[key], name) if key in lines else 0
            other = getattr(others[key], name) if key in others else 0
            if not same(mine, other):
                said = f"read {Expr.of(mine).text()}, run {Expr.of(other).text()}"
                yield f"line {key[1]}, {name}: {said}"


def same(one: Size, other: Size) -> bool:
    """Whether two sizes are the same polynomial."""
    return Expr.of(one) == Expr.of(other)
