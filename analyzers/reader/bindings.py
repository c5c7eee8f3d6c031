"""The top level of a module in, what each of its names is bound to out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.helpers import get_full_name_for_node


@dataclass(frozen=True)
class Binding:
    """One place that binds a name: a definition, an import or an assignment."""

    name: str
    kind: str  # class | function | import | assign
    node: cst.CSTNode
    outer: cst.CSTNode  # the statement of the top level that holds it
    module: str = ""  # of an import: the module
    attribute: str = ""  # of a from-import: the name in that module, "" for the module itself


def bindings_of(body: Sequence[cst.CSTNode], package: str) -> dict[str, list[Binding]]:
    """What each name is bound to, in order, inside `if`, `try`, `with` too; `*` holds star imports."""
    found: dict[str, list[Binding]] = {}
    for statement in body:
        for binding in _bound(statement, statement, package):
            found.setdefault(binding.name, []).append(binding)
    return found


def _bound(node: cst.CSTNode, outer: cst.CSTNode, package: str) -> Iterator[Binding]:
    match node:
        case cst.ClassDef():
            yield Binding(node.name.value, "class", node, outer)
        case cst.FunctionDef():
            yield Binding(node.name.value, "function", node, outer)
        case cst.Import() | cst.ImportFrom():
            yield from imported(node, outer, package)
        case cst.Assign():
            for target in node.targets:
                for name in target_names(target.target):
                    yield Binding(name, "assign", node, outer)
        case cst.AnnAssign() | cst.AugAssign() | cst.NamedExpr():
            for name in target_names(node.target):
                yield Binding(name, "assign", node, outer)
        case cst.For():
            for name in target_names(node.target):
                yield Binding(name, "assign", node, outer)
            yield from _inner(node, outer, package)
        case cst.With():
            for item in node.items:
                if item.asname is not None:
                    for name in target_names(item.asname.name):
                        yield Binding(name, "assign", node, outer)
            yield from _inner(node, outer, package)
        case _:
            yield from _inner(node, outer, package)


def _inner(node: cst.CSTNode, outer: cst.CSTNode, package: str) -> Iterator[Binding]:
    for child in node.children:
        if isinstance(
            child, cst.BaseStatement | cst.BaseSmallStatement | cst.BaseSuite | cst.Else | cst.Finally
        ):
            yield from _bound(child, outer, package)
        elif isinstance(child, cst.ExceptHandler):
            yield from _bound(child.body, outer, package)


def imported(node: cst.Import | cst.ImportFrom, outer: cst.CSTNode, package: str) -> Iterator[Binding]:
    """What an import statement binds."""
    if isinstance(node, cst.Import):
        for alias in node.names:
            module = get_full_name_for_node(alias.name) or ""
            if alias.asname is not None:
                yield Binding(_asname(alias.asname), "import", node, outer, module)
            else:
                top = module.partition(".")[0]
                yield Binding(top, "import", node, outer, top)
        return
    module = absolute_module(node, package)
    if isinstance(node.names, cst.ImportStar):
        yield Binding("*", "import", node, outer, module, "*")
        return
    for alias in node.names:
        name = get_full_name_for_node(alias.name) or ""
        bound = _asname(alias.asname) if alias.asname is not None else name
        yield Binding(bound, "import", node, outer, module, name)


def absolute_module(node: cst.ImportFrom, package: str) -> str:
    """The module a from-import names, relative dots resolved from the package."""
    name = (get_full_name_for_node(node.module) or "") if node.module is not None else ""
    dots = len(node.relative)
    if not dots:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - dots + 1], *([name] if name else [])])


def _asname(node: cst.AsName) -> str:
    return node.name.value if isinstance(node.name, cst.Name) else ""


def target_names(node: cst.CSTNode) -> Iterator[str]:
    """The plain names that an assignment target binds."""
    match node:
        case cst.Name():
            yield node.value
        case cst.Tuple() | cst.List():
            for element in node.elements:
                yield from target_names(element.value)
        case cst.StarredElement():
            yield from target_names(node.value)
