"""A recorded run of a whole model in, the tree of its called modules out, equal siblings told once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from forwardbook.analyzers.symbolic.loops import combined
from forwardbook.analyzers.symbolic.patterns import class_name, hint_reader
from forwardbook.analyzers.symbolic.rising import MAX_DEGREE
from forwardbook.analyzers.symbolic.run import SymbolicRun
from forwardbook.analyzers.symbolic.summary import Summary, summarise
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace
from forwardbook.cost import Cost
from forwardbook.formula import Expr, parse
from forwardbook.models.record import AttentionCost, LayerCosts, Quantities
from forwardbook.pipeline.derivation.places import ranges
from forwardbook.pipeline.model.masks import Shapes

_INDEX = re.compile(r"(?<![^.])\d+(?![^.])")


@dataclass(frozen=True)
class Node:
    """A call, how many siblings cost the same, and the calls beneath it."""

    call: CallRecord
    occurrence: int
    name: str
    repeat: int
    summary: Summary
    attention: tuple[AttentionCost, ...]
    beneath: tuple[Node, ...]

    def walk(self) -> list[Node]:
        """This node and all beneath it."""
        return [self, *(node for child in self.beneath for node in child.walk())]

    def record(self) -> LayerCosts:
        """The node as the record keeps it."""
        quantities = {name: Expr.of(size).text() for name, size in self.summary.quantities().items()}
        return LayerCosts(
            name=self.name,
            class_name=class_name(self.call.module),
            repeat=self.repeat,
            costs=Quantities.model_validate(quantities),
            attention=list(self.attention),
            sub_layers=[node.record() for node in self.beneath],
        )


def layer_tree(run: SymbolicRun, root: CallRecord, shapes: Shapes) -> Node:
    """The tree below one call of the model, whose masks have these shapes."""
    calls = run.trace.calls
    children: dict[int, list[CallRecord]] = {}
    seen: dict[str, int] = {}
    occurrence: dict[int, int] = {}
    for call in calls:
        if not call.failed:
            occurrence[call.index] = seen.get(call.path, 0)
            seen[call.path] = occurrence[call.index] + 1
            children.setdefault(call.parent, []).append(call)
    return _Builder(run, children, occurrence, shapes).node(root, "")


@dataclass
class _Builder:
    run: SymbolicRun
    children: dict[int, list[CallRecord]]
    occurrence: dict[int, int]
    shapes: Shapes

    def node(self, call: CallRecord, parent: str, siblings: Sequence[CallRecord] = ()) -> Node:
        groups: dict[object, list[CallRecord]] = {}
        for child in self.children.get(call.index, []):
            groups.setdefault(self.key(child), []).append(child)
        return Node(
            call=call,
            occurrence=self.occurrence[call.index],
            name=_name([c.path for c in (siblings or [call])], parent),
            repeat=max(len(siblings), 1),
            summary=summarise(self.run.trace, call, hint_reader(self.run)),
            attention=tuple(self.attention(call)),
            beneath=tuple(self.node(group[0], call.path, group) for group in groups.values()),
        )

    def key(self, call: CallRecord) -> object:
        """What two calls share that cost the same, all the way down."""
        beneath = tuple(self.key(child) for child in self.children.get(call.index, []))
        pattern = _INDEX.sub("*", call.path.rpartition(".")[2])
        return pattern, class_name(call.module), own_cost(self.run.trace, call), beneath

    def attention(self, call: CallRecord) -> list[AttentionCost]:
        """The attention that the call's own forward() issues."""
        found: dict[tuple[str, str | None, str, bool], int] = {}
        own = (o for o in self.run.trace.of(call) if o.call == call.index)
        issued = [(o.cost.flops, o.attention) for o in own if o.attention is not None]
        hints = hint_reader(self.run)
        for number, (flops, attention) in enumerate(issued):
            dense = Expr.of(flops)  # type: ignore[arg-type]
            place = call.path, self.occurrence[call.index], number
            executed, shape = self.shapes.executed(dense, attention, call, place, hints)
            one = (dense.text(), executed.text() if executed is not None else None, shape, attention.fused)
            found[one] = found.get(one, 0) + 1
        return [
            AttentionCost.model_validate({"count": n, "dense": d, "executed": e, "shape": s, "fused": f})
            for (d, e, s, f), n in found.items()
        ]


def interpolated(name: str, trees: Mapping[int, Node]) -> Node | None:
    """One tree in a size from the trees at a few numbers of it; None where one has no polynomial."""
    first = trees[min(trees)]
    parts = [len(tree.beneath) for tree in trees.values()]
    same = {(t.name, t.repeat, class_name(t.call.module)) for t in trees.values()}
    summary = combined({name: {x: tree.summary for x, tree in trees.items()}})
    if summary is None or len(set(parts)) != 1 or len(same) != 1:
        return None
    beneath = [interpolated(name, {x: tree.beneath[i] for x, tree in trees.items()}) for i in range(parts[0])]
    attention = [
        _one_attention(name, {x: tree.attention[i] for x, tree in trees.items()})
        for i in range(min(len(tree.attention) for tree in trees.values()))
    ]
    if any(child is None for child in beneath) or any(one is None for one in attention):
        return None
    return replace(
        first,
        summary=summary,
        attention=tuple(one for one in attention if one is not None),
        beneath=tuple(child for child in beneath if child is not None),
    )


def _one_attention(name: str, seen: Mapping[int, AttentionCost]) -> AttentionCost | None:
    dense = Expr.interpolate(name, {x: parse(one.dense) for x, one in seen.items()}, MAX_DEGREE)
    told = {x: parse(one.executed) for x, one in seen.items() if one.executed is not None}
    executed = Expr.interpolate(name, told, MAX_DEGREE) if len(told) == len(seen) else None
    if dense is None:
        return None
    first = seen[min(seen)]
    said = executed.text() if executed is not None else None
    shape = first.shape if executed is not None else "unknown"
    return AttentionCost(count=first.count, dense=dense.text(), executed=said, shape=shape, fused=first.fused)


def own_cost(trace: Trace, call: CallRecord) -> Cost:
    """What the call's own forward() issues, submodules left out."""
    return Cost.total(o.cost for o in trace.of(call) if o.call == call.index)


def _name(paths: Sequence[str], parent: str) -> str:
    """The path below the parent; of several siblings their indices as ranges: `layers.0-2,5`."""
    prefix = f"{parent}." if parent else ""
    short = list(dict.fromkeys(p.removeprefix(prefix) for p in paths))
    if len(short) == 1:
        return short[0]
    stem, _, _ = short[0].rpartition(".")
    numbers = sorted(int(s.rpartition(".")[2]) for s in short if s.rpartition(".")[2].isdigit())
    same = all(s.rpartition(".")[0] == stem and s.rpartition(".")[2].isdigit() for s in short)
    return f"{stem}{stem and '.'}{ranges(numbers)}" if same else ",".join(short)
