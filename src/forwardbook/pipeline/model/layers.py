"""A recorded run of a whole model in, the tree of its called modules out, equal siblings told once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from forwardbook.analyzers.symbolic.attention import Attention
from forwardbook.analyzers.symbolic.loops import combined
from forwardbook.analyzers.symbolic.patterns import class_name, hint_reader
from forwardbook.analyzers.symbolic.rising import MAX_DEGREE
from forwardbook.analyzers.symbolic.run import SymbolicRun
from forwardbook.analyzers.symbolic.summary import Summary, summarise
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace
from forwardbook.cost import Cost
from forwardbook.formula import Expr, FormulaError, parse
from forwardbook.models.record import AttentionCost, LayerCosts, Quantities
from forwardbook.pipeline.derivation.places import ranges

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


def layer_tree(run: SymbolicRun, root: CallRecord) -> Node:
    """The tree below one call of the model."""
    calls = run.trace.calls
    children: dict[int, list[CallRecord]] = {}
    seen: dict[str, int] = {}
    occurrence: dict[int, int] = {}
    for call in calls:
        if not call.failed:
            occurrence[call.index] = seen.get(call.path, 0)
            seen[call.path] = occurrence[call.index] + 1
            children.setdefault(call.parent, []).append(call)
    return _Builder(run, children, occurrence).node(root, "")


@dataclass
class _Builder:
    run: SymbolicRun
    children: dict[int, list[CallRecord]]
    occurrence: dict[int, int]

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
        found: dict[tuple[str, str | None, str], int] = {}
        for operation in self.run.trace.of(call):
            if operation.attention is not None and operation.call == call.index:
                dense = Expr.of(operation.cost.flops)  # type: ignore[arg-type]
                executed, shape = self.executed(dense, operation.attention, call)
                one = (dense.text(), executed.text() if executed is not None else None, shape)
                found[one] = found.get(one, 0) + 1
        return [
            AttentionCost.model_validate({"count": n, "dense": d, "executed": e, "shape": s})
            for (d, e, s), n in found.items()
        ]

    def executed(self, dense: Expr, attention: Attention, call: CallRecord) -> tuple[Expr | None, str]:
        """The flops over the pairs that the mask leaves, where a known shape has exactly as many."""
        rows, columns = Expr.of(attention.queries), Expr.of(attention.keys)
        hints = hint_reader(self.run)
        for shape, pairs in _shapes(rows, columns, _window(call)):
            try:
                if attention.pairs != pairs.evaluate(hints):
                    continue
                return (dense if shape == "full" else (dense * pairs).exact_div(rows * columns)), shape
            except FormulaError:
                continue
        return None, "unknown"


def _shapes(rows: Expr, columns: Expr, window: int | None) -> list[tuple[str, Expr]]:
    """Numbers of pairs that masks of known shapes leave: the last row sees every column it may."""
    triangle = (rows * (rows + 1)).exact_div(Expr.const(2))
    found = [("full", rows * columns), ("causal", rows * (columns - rows) + triangle)]
    if window is not None:
        # a row sees itself and window - 1 columns before it; the first rows see fewer
        short = Expr.minimum(rows, Expr.const(window))
        found.append(("sliding", rows * short - (short * (short - 1)).exact_div(Expr.const(2))))
    return found


def _window(call: CallRecord) -> int | None:
    """The width of the window that the layer says it attends to."""
    for name in ("sliding_window", "window_size", "local_window_size"):
        value = getattr(call.module, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


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
    return AttentionCost(count=first.count, dense=dense.text(), executed=said, shape=shape)


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
