"""A class name and where its source is in, its Facts out; the class is never imported."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import libcst as cst

from forwardbook.analyzers.reader.attributes import attributes_of
from forwardbook.analyzers.reader.facts import Facts
from forwardbook.analyzers.reader.functions import constants, function_facts, references
from forwardbook.analyzers.reader.normal import normalised_hash
from forwardbook.analyzers.reader.outline import Outlines
from forwardbook.analyzers.reader.resolve import Definition, base_names, linearize, methods_of, resolve
from forwardbook.analyzers.reader.sources import ReaderError, Sources, relative_file

_MOST_HELPERS = 300  # a class whose forward() reaches more functions than this is read up to here


def read_class(name: str, file: Path | None = None, sources: Sources | None = None) -> Facts:
    """The facts of a class, found by dotted path, or by its name in a file."""
    sources = Outlines.of(sources or Sources())  # facts hold no nodes: whole files need not be parsed
    found = find_class(name, file, sources)
    node = found.node
    assert isinstance(node, cst.ClassDef)
    order = linearize(sources, found.source, node)
    mro = [item for item in order if isinstance(item, Definition)]
    forward, constructor = find_method(mro, "forward"), find_method(mro, "__init__")
    helpers = reached(sources, mro, forward) if forward is not None else []
    named: dict[str, str] = {}
    for function in (forward, *helpers):
        if function is not None and isinstance(function.node, cst.FunctionDef):
            named |= constants(function.source, function.node)
    return Facts(
        full_class_name=found.full_name,
        name=node.name.value,
        module=found.source.module,
        file=str(found.source.path),
        relative_file=relative_file(found.source),
        span=found.source.span(node),
        docstring=node.get_docstring() or "",
        bases=tuple(base_names(node)),
        resolution_order=order_of(order),
        decorators=tuple(found.source.code(item.decorator) for item in node.decorators),
        attributes=tuple(attributes_of(mro)),
        constructor=function_facts(constructor) if constructor else None,
        makers=tuple(function_facts(item) for item in _makers(sources, constructor)),
        forward=function_facts(forward) if forward else None,
        helpers=tuple(function_facts(item) for item in helpers),
        constants=tuple(sorted(named.items())),
        source_hash=hash_of(node, forward, helpers),
    )


def order_of(order: Sequence[Definition | str]) -> tuple[str, ...]:
    """The names of a resolution order."""
    return tuple(item if isinstance(item, str) else item.full_name for item in order)


def hash_of(node: cst.ClassDef, forward: Definition | None, helpers: Sequence[Definition]) -> str:
    """The hash of forward() and all that it reaches; of the class itself where it has no forward()."""
    return normalised_hash([node] if forward is None else [item.node for item in (forward, *helpers)])


def find_class(name: str, file: Path | None, sources: Sources) -> Definition:
    """Where a class is defined; imports and re-exports are followed."""
    source, rest = (sources.load_path(file), name) if file is not None else sources.split(name)
    found = resolve(sources, source, rest)
    if found is None:
        near = [item for item, held in source.bindings.items() if held[-1].kind == "class"]
        raise ReaderError(
            f"looking for {name}: {source.path} defines no such class; it has {', '.join(near) or 'none'}"
        )
    for binding in reversed(found.source.bindings.get(found.qualname, ())):
        if isinstance(binding.node, cst.ClassDef):  # another branch may bind the name to something else
            return Definition(found.source, binding.node, found.qualname)
    if not isinstance(found.node, cst.ClassDef):
        raise ReaderError(
            f"looking for {name}: {found.full_name} is a {type(found.node).__name__}, not a class"
        )
    return found


def find_method(mro: list[Definition], name: str, after: Definition | None = None) -> Definition | None:
    """The first definition of a method along the resolution order, or the first after a class."""
    start = mro.index(after) + 1 if after in mro else 0
    for owner in mro[start:]:
        assert isinstance(owner.node, cst.ClassDef)
        method = methods_of(owner.node).get(name)
        if method is not None and owner.full_name != "torch.nn.modules.module.Module":
            return Definition(owner.source, method, f"{owner.qualname}.{name}")
    return None


def reached(sources: Sources, mro: list[Definition], start: Definition) -> list[Definition]:
    """Every function that a method calls or names, transitively, within the packages the class is made of."""
    tops = {item.source.module.partition(".")[0] for item in mro[:1]}
    seen: dict[str, Definition] = {start.full_name: start}
    queue = deque([start])
    while queue and len(seen) <= _MOST_HELPERS:
        current = queue.popleft()
        assert isinstance(current.node, cst.FunctionDef)
        for name in references(current.node.body):
            found = _called(sources, mro, current, name)
            if found is None or found.full_name in seen:
                continue
            if found.source.module.partition(".")[0] in tops:
                seen[found.full_name] = found
                queue.append(found)
    return [item for name, item in seen.items() if name != start.full_name]


def _makers(sources: Sources, constructor: Definition | None) -> Iterator[Definition]:
    """The functions of its own file that a constructor calls or names: they make parts of what it has."""
    if constructor is None or not isinstance(constructor.node, cst.FunctionDef):
        return
    for name in dict.fromkeys(references(constructor.node.body)):
        if name.partition(".")[0] not in ("self", "cls", "super"):
            found = _called(sources, [], constructor, name)
            if found is not None and found.source.module == constructor.source.module:
                yield found


def _called(sources: Sources, mro: list[Definition], current: Definition, name: str) -> Definition | None:
    head, _, rest = name.partition(".")
    if head in ("self", "cls", "super"):
        owner = next((item for item in mro if current.qualname.startswith(f"{item.qualname}.")), None)
        method = rest.partition(".")[0]
        return find_method(mro, method, owner if head == "super" else None) if method else None
    found = resolve(sources, current.source, name)
    return found if found is not None and isinstance(found.node, cst.FunctionDef) else None
