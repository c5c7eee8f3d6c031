"""A graph and a definition in, the tree of calls from it out, with every place where it stops and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from forwardbook.analyzers.calls.graph import Graph
from forwardbook.analyzers.index.facts import Edge, Span

Stop = Literal["", "leaf", "depth", "seen", "external", "unresolved", "abstract", "size"]
NODES = 400  # a tree with more calls than this is cut


@dataclass(frozen=True, slots=True)
class Trace:
    """One definition in a tree of calls: the edge that reached it, its span, and what it calls in turn.

    `stop` says why nothing follows: it calls nothing (`leaf`), the depth or the size is used up, it was
    followed `seen` before, it lies outside (`external`), or its target is not known (`unresolved`); `reason`
    says it in words.
    """

    path: str
    qualname: str
    edge: Edge | None = None
    span: Span | None = None
    calls: tuple[Trace, ...] = ()
    stop: Stop = ""
    reason: str = ""

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Trace]]:
        """This node and all below it, with their depths."""
        yield depth, self
        for call in self.calls:
            yield from call.walk(depth + 1)

    def stops(self) -> tuple[Trace, ...]:
        """The nodes where static knowledge ends."""
        return tuple(one for _, one in self.walk() if one.stop in ("unresolved", "abstract", "external"))


@dataclass(slots=True)
class _Room:
    nodes: int


def trace(
    graph: Graph, path: str, qualname: str, depth: int = 6, *, builtins: bool = False, possible: bool = False
) -> Trace:
    """The tree of calls from a definition; calls to builtins and merely possible ones only when asked for."""
    root = Trace(path, qualname, None, _span(graph, path, qualname))
    return _grown(graph, root, depth, {(path, qualname)}, _Room(NODES), (builtins, possible))


def _span(graph: Graph, path: str, qualname: str) -> Span | None:
    definition = graph.definition(path, qualname) if qualname else None
    return definition.span if definition else None


def _grown(
    graph: Graph, node: Trace, depth: int, seen: set[tuple[str, str]], room: _Room, wanted: tuple[bool, bool]
) -> Trace:
    edges = [edge for edge in graph.edges_from(node.path, node.qualname) if _wanted(edge, *wanted)]
    definition = graph.definition(node.path, node.qualname)
    abstract = definition is not None and any("abstract" in mark for mark in definition.decorators)
    if abstract:
        return _ended(node, "abstract", f"`{node.qualname}` is abstract: a subclass's override runs")
    if not edges:
        return _ended(node, "leaf", "")
    if not depth:
        return _ended(node, "depth", f"{len(edges)} calls further down are left out")
    below: list[Trace] = []
    later: list[tuple[int, Trace]] = []
    done: dict[tuple[str, str], None] = {}
    for edge in edges:
        if (edge.callee_path, edge.callee) in done:
            continue
        done[edge.callee_path, edge.callee] = None
        if room.nodes <= 0:
            return _ended(node, "size", "the tree is cut: too many calls", tuple(below))
        room.nodes -= 1
        child = _child(graph, edge)
        if not child.stop:
            if (child.path, child.qualname) in seen:
                child = _ended(child, "seen", "followed elsewhere in this trace")
            else:
                seen.add((child.path, child.qualname))
                later.append((len(below), child))
        below.append(child)
    for number, child in later:
        below[number] = _grown(graph, child, depth - 1, seen, room, wanted)
    return Trace(node.path, node.qualname, node.edge, node.span, tuple(below))


def _wanted(edge: Edge, builtins: bool, possible: bool) -> bool:
    if edge.how == "possible" and not possible:
        return False
    return builtins or not (edge.how == "external" and edge.callee.startswith("builtins."))


def _child(graph: Graph, edge: Edge) -> Trace:
    if edge.how == "unresolved":
        return Trace("", edge.callee, edge, None, (), "unresolved", edge.reason)
    if not edge.callee_path:
        return Trace("", edge.callee, edge, None, (), "external", "outside the repository")
    return Trace(edge.callee_path, edge.callee, edge, _span(graph, edge.callee_path, edge.callee))


def _ended(node: Trace, stop: Stop, reason: str, calls: tuple[Trace, ...] = ()) -> Trace:
    return Trace(node.path, node.qualname, node.edge, node.span, calls, stop, reason)
