"""A definition in, the call edges out of it out; and whether an edge leads to what a name means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.index.facts import Definition, Edge
from forwardbook.book.verify.context import Context
from forwardbook.book.verify.names import Target, clean

Targets = tuple[Target, ...]
_CONSTRUCTORS: Final = frozenset({"__init__", "__new__", "__post_init__", "__call__"})


@dataclass(frozen=True, slots=True)
class End:
    """One end of a relation: its name as written and what it may mean."""

    name: str
    targets: Targets

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]


def edges_of(target: Target, context: Context) -> Iterator[Edge]:
    """The calls out of a definition and of what it holds; of a whole file, all its calls."""
    graph, path = context.sources.graph, target.path
    prefix = target.qualname + "."
    if target.is_file:
        yield from graph.edges_from(path, "")
    for definition in _distinct(context.sources.files[path].definitions):
        if (
            target.is_file
            or definition.qualname == target.qualname
            or definition.qualname.startswith(prefix)
        ):
            yield from graph.edges_from(path, definition.qualname)


def _distinct(definitions: tuple[Definition, ...]) -> Iterator[Definition]:
    seen: set[str] = set()
    for one in definitions:
        if one.qualname not in seen:
            seen.add(one.qualname)
            yield one


def leads_to(edge: Edge, b: End) -> bool:
    """Whether a call edge ends at one of the targets, or outside at that name."""
    if edge.callee_path:
        return any(_is_callee(edge, target) for target in b.targets)
    callee = clean(edge.callee)
    if edge.how == "external":
        return callee == b.name or callee.endswith("." + b.name) or b.name.endswith("." + callee)
    return callee == b.name


def _is_callee(edge: Edge, target: Target) -> bool:
    if edge.callee_path != target.path:
        return False
    if target.is_file or edge.callee == target.qualname:
        return True
    owner, _, last = edge.callee.rpartition(".")
    if target.is_class:  # a call of the class, or of what making an instance runs
        return owner == target.qualname and last in _CONSTRUCTORS
    owner, _, last = target.qualname.rpartition(".")
    return edge.callee == owner and last in _CONSTRUCTORS


def some(names: list[str]) -> str:
    """At most six names for a message."""
    shown = list(dict.fromkeys(names))
    return (", ".join(shown[:6]) + (f" and {len(shown) - 6} more" if len(shown) > 6 else "")) or "nothing"
