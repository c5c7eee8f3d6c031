"""A name used in a module in, the place where it is defined out, following imports through source files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.helpers import get_full_name_for_node

from forwardbook.analyzers.reader.bindings import Binding
from forwardbook.analyzers.reader.sources import SourceFile, Sources


@dataclass(frozen=True)
class Definition:
    """A class, function, assignment or whole module found in source."""

    source: SourceFile
    node: cst.CSTNode
    qualname: str

    @property
    def full_name(self) -> str:
        """The dotted name under which it is defined."""
        return f"{self.source.module}.{self.qualname}" if self.qualname else self.source.module


def resolve(
    sources: Sources, source: SourceFile, dotted: str, _seen: frozenset[tuple[str, str]] = frozenset()
) -> Definition | None:
    """Where a dotted name used in a module is defined, None when no source says."""
    key = (source.module, dotted)
    if key in _seen:
        return None
    seen = _seen | {key}
    head, _, rest = dotted.partition(".")
    for binding in _told(source.bindings.get(head, ())):
        if binding.kind == "import":
            found = _imported(sources, binding.module, binding.attribute, rest, seen)
            if found is not None:
                return found
        elif not rest:
            return Definition(source, binding.node, head)
        elif isinstance(binding.node, cst.ClassDef):
            return _member(source, binding.node, head, rest)
    for binding in source.bindings.get("*", ()):
        target = sources.load(binding.module) if sources.mentions(binding.module, head) else None
        found = resolve(sources, target, dotted, seen) if target is not None else None
        if found is not None:
            return found
    return _submodule(sources, source, head, rest, seen) if source.is_package else None


def _told(bindings: Sequence[Binding]) -> Iterator[Binding]:
    """Bindings, the last first; `X = None` last of all: it stands where another branch defines X."""
    yield from (one for one in reversed(bindings) if not _is_none(one.node))
    yield from (one for one in reversed(bindings) if _is_none(one.node))


def _is_none(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Assign) and isinstance(node.value, cst.Name) and node.value.value == "None"


def _imported(
    sources: Sources, module: str, attribute: str, rest: str, seen: frozenset[tuple[str, str]]
) -> Definition | None:
    target = sources.load(module)
    wanted = ".".join(part for part in (attribute, rest) if part)
    if target is None:
        return None
    if not wanted:
        return Definition(target, target.tree, "")
    return resolve(sources, target, wanted, seen)


def _submodule(
    sources: Sources, source: SourceFile, head: str, rest: str, seen: frozenset[tuple[str, str]]
) -> Definition | None:
    target = sources.load(f"{source.module}.{head}")
    if target is None:
        return None
    return resolve(sources, target, rest, seen) if rest else Definition(target, target.tree, "")


def _member(source: SourceFile, node: cst.ClassDef, qualname: str, rest: str) -> Definition | None:
    head, _, tail = rest.partition(".")
    for statement in node.body.body:
        if isinstance(statement, cst.FunctionDef | cst.ClassDef) and statement.name.value == head:
            name = f"{qualname}.{head}"
            if not tail:
                return Definition(source, statement, name)
            return _member(source, statement, name, tail) if isinstance(statement, cst.ClassDef) else None
    return None


def linearize(sources: Sources, source: SourceFile, node: cst.ClassDef) -> list[Definition | str]:
    """The method resolution order by source; a base without source is its written name."""
    return _merge(sources, Definition(source, node, node.name.value), frozenset())


def _merge(sources: Sources, definition: Definition, seen: frozenset[str]) -> list[Definition | str]:
    own = definition.full_name
    if own in seen or not isinstance(definition.node, cst.ClassDef):
        return []
    orders: list[list[Definition | str]] = []
    direct: list[Definition | str] = []
    for base in base_names(definition.node):
        found = resolve(sources, definition.source, base)
        if found is None or not isinstance(found.node, cst.ClassDef):
            direct.append(base)
            orders.append([base])
        else:
            direct.append(found)
            orders.append(_merge(sources, found, seen | {own}))
    return [definition, *_c3([*orders, direct])]


def _c3(orders: list[list[Definition | str]]) -> list[Definition | str]:
    """The C3 merge of Python; where it has no answer, the bases in the order written."""
    merged: list[Definition | str] = []
    rest = [list(order) for order in orders if order]
    while rest:
        heads = [order[0] for order in rest]
        tails = {_key(item) for order in rest for item in order[1:]}
        chosen = next((head for head in heads if _key(head) not in tails), heads[0])
        merged.append(chosen)
        rest = [[item for item in order if _key(item) != _key(chosen)] for order in rest]
        rest = [order for order in rest if order]
    return merged


def _key(item: Definition | str) -> str:
    return item if isinstance(item, str) else item.full_name


def base_names(node: cst.ClassDef) -> Iterator[str]:
    """The bases of a class as written, type parameters dropped."""
    for base in node.bases:
        value = base.value
        while isinstance(value, cst.Subscript):
            value = value.value
        name = get_full_name_for_node(value)
        if name:
            yield name


def methods_of(node: cst.ClassDef) -> dict[str, cst.FunctionDef]:
    """The functions written in the body of a class, the last of each name."""
    return {item.name.value: item for item in node.body.body if isinstance(item, cst.FunctionDef)}
