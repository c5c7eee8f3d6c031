"""A loop over chunks of a size in; formulas in which the number of its rounds is an expression of it.

Python needs a plain number where it counts rounds: `range(ceil(seq_len / 64))` ran twice, say. The size
itself stays a symbol; runs with a few numbers of rounds tell what each round adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from forwardbook.analyzers.symbolic.loops import POINTS
from forwardbook.analyzers.symbolic.run import SymbolicRun
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.cost import Cost
from forwardbook.formula import Expr, parse
from forwardbook.models.record import AttentionCost
from forwardbook.pipeline.model.layers import Node

ROUNDS: Final = "loop.rounds"
"""The name of their number, until the expression stands there."""
FEWEST: Final = 2  # one round is a shape of its own
_LONGEST: Final = 4096  # positions in a chunk


def rounds_of(run: SymbolicRun, name: str) -> Expr | None:
    """The one expression of a size alone that Python counted with; None where it took the size itself."""
    nodes = [one.node for one in run.ledger.consumed if not one.real and one.node.pytype is int]
    asked = {node for node in nodes if name in run.expressions.symbols(node)}
    found = {run.expressions.of(node) for node in asked}
    if len(found) != 1 or any(node.op == "symbol" for node in asked):
        return None
    [one] = found
    return one if one.symbols() == {name} else None


def sizes_by_rounds(rounds: Expr, name: str, size: int) -> dict[int, int] | None:
    """Sizes from the given one on by their number of rounds, one more for each; None where there are none.

    They are whole chunks apart, so that what is left over of the last chunk is the same in all.
    """

    def counted(at: int) -> int:
        return rounds.evaluate({name: at})

    for step in range(1, _LONGEST + 1):
        if all(counted(at + step) == counted(at) + 1 for at in range(size, size + 2 * step)):
            sizes = [size + i * step for i in range(POINTS)]
            return {counted(one): one for one in sizes}
    return None


def in_expression(node: Node, rounds: Expr) -> Node:
    """A tree with the expression in place of the number of rounds."""
    return replace(
        node,
        summary=_summary(node.summary, rounds),
        attention=tuple(_attention(one, rounds) for one in node.attention),
        beneath=tuple(in_expression(child, rounds) for child in node.beneath),
    )


def _summary(summary: Summary, rounds: Expr) -> Summary:
    put = {ROUNDS: rounds}

    def cost(one: Cost) -> Cost:
        amounts = (one.flops, one.pointwise_ops, one.reads, one.writes)
        return Cost(*(Expr.of(amount).subs(put) for amount in amounts))  # type: ignore[arg-type]

    return replace(
        summary,
        totals=cost(summary.totals),
        weights=Expr.of(summary.weights).subs(put),
        boundary=Expr.of(summary.boundary).subs(put),
        intermediates=Expr.of(summary.intermediates).subs(put),
        peaks=tuple(Expr.of(one).subs(put) for one in summary.peaks),
        lines=tuple(replace(line, cost=cost(line.cost)) for line in summary.lines),
    )


def _attention(one: AttentionCost, rounds: Expr) -> AttentionCost:
    told: Mapping[str, str | None] = {"dense": one.dense, "executed": one.executed}
    put = {ROUNDS: rounds}
    update = {name: parse(text).subs(put).text() for name, text in told.items() if text is not None}
    return one.model_copy(update=update)
