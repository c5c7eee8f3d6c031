"""Two names in; whether the facts and the call graph hold the relation between them out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.index.facts import Definition, Edge, Launch, Raised
from forwardbook.book.verify.claims import Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context
from forwardbook.book.verify.inline import Place
from forwardbook.book.verify.names import Target, base_name, clean

Targets = tuple[Target, ...]
SYNONYMS: Final = {
    "extends": "inherits from",
    "derives from": "inherits from",
    "subclasses": "inherits from",
    "is a subclass of": "inherits from",
    "creates": "instantiates",
    "is used by": "is used by",
    "may raise": "raises",
    "may launch": "launches",
    "may instantiate": "may call",
}
_CONSTRUCTORS: Final = frozenset({"__init__", "__new__", "__post_init__", "__call__"})


@dataclass(frozen=True, slots=True)
class End:
    """One end of a relation: its name as written and what it may mean."""

    name: str
    targets: Targets

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]


def check_relation(
    verb: str, source: str, target: str, context: Context, near: tuple[str, ...], where: Place | None = None
) -> Verdict:
    """Whether `source verb target` holds, at the line `where` if one is given."""
    verb = SYNONYMS.get(verb, verb)
    swapped = {"is called by": "calls", "may be called by": "may call", "is imported by": "imports",
               "is used by": "uses", "is raised by": "raises", "is launched by": "launches",
               "is instantiated by": "instantiates", "is decorated by": "decorates",
               "is overridden by": "overrides"}.get(verb)  # fmt: skip
    if swapped is not None:
        verb, source, target = swapped, target, source
    if where is not None:  # the call stands in the file of the line, so the caller does
        near = tuple(dict.fromkeys([*context.names.files_named(where.path), *near]))
    if verb in ("imports", "uses") and {source, target} <= context.sources.folders:
        return _folder_imports(source, target, context)
    a = End(clean(source), context.names.targets(source, near))
    seen = tuple(dict.fromkeys([*(one.path for one in a.targets[:2]), *near]))
    b = End(clean(target), context.names.targets(target, seen))
    if not a.targets and verb != "decorates":
        if context.strict:
            return contradicted(f"the sources define no {a.name}")
        return unverified(f"the sources define no {a.name}")
    verdict = _RULES[verb](a, b, context, where)
    others = tuple(context.names.by_qualname.get(b.name, ()))
    if verdict.state == "contradicted" and others and others != b.targets:  # any of that name will do
        again = _RULES[verb](a, End(b.name, others), context, where)
        verdict = again if again.state == "supported" else verdict
    if verdict.state == "contradicted" and not context.strict and len(a.targets) > 1:
        return unverified(f"{len(a.targets)} definitions are called {a.name}")
    return verdict


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


def _calls(a: End, b: End, context: Context, where: Place | None, may: bool = False) -> Verdict:
    edges = [edge for target in a.targets for edge in edges_of(target, context)]
    found = [edge for edge in edges if leads_to(edge, b)]
    path = a.targets[0].path
    if where is not None:
        at_line = [edge for edge in found if where.start <= edge.line <= where.last]
        if found and not at_line:
            lines = ", ".join(str(number) for number in sorted({edge.line for edge in found})[:5])
            return contradicted(f"{a.name} calls {b.name} at {path}:{lines}", path)
        found = at_line
    sure = [edge for edge in found if edge.how in ("exact", "registry", "external")]
    if sure or (found and may):
        return supported(path)
    if any(edge.how == "possible" for edge in found):
        return contradicted(f"that call is only possible: say `{a.name}` may call `{b.name}`", path)
    if found or any(
        clean(edge.callee).rpartition(".")[2] == b.last for edge in edges if edge.how == "unresolved"
    ):
        return unverified(f"{a.name} calls some {b.last}, which was not resolved", path)
    return contradicted(f"{a.name} calls {_some(sorted({edge.callee for edge in edges}))}", path)


def _may_call(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    return _calls(a, b, context, where, may=True)


def _instantiates(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    if b.targets and not any(one.is_class for one in b.targets):
        return contradicted(f"{b.name} is no class but a {b.targets[0].definition.kind}", b.targets[0].path)
    return _calls(a, b, context, where, may=True)


def _uses(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    path = a.targets[0].path
    for target in a.targets:
        lines = context.sources.lines(target.path) or ()
        span = target.definition.decorated
        text = "\n".join(lines if target.is_file else lines[span.start - 1 : target.definition.span.end])
        if re.search(rf"\b{re.escape(b.last)}\b", text):
            return supported(path)
        if any(leads_to(edge, b) for edge in edges_of(target, context)):
            return supported(path)
        if target.is_file and _imports_one(target.path, b, context):
            return supported(path)
        if target.is_class and b.last in context.names.members(target).names:
            return supported(path)
    if not context.strict and _reaches(a, b, context):
        return supported(path)
    if b.targets or context.strict:
        return contradicted(f"{a.name} never mentions {b.last}", path)
    return unverified(f"{a.name} never mentions {b.last}", path)


def _reaches(a: End, b: End, context: Context) -> bool:
    """Whether a call of a call, three deep, leads there."""
    front, seen = list(a.targets), set(a.targets)
    for _ in range(3):
        following: list[Target] = []
        for target in front[:50]:
            for edge in edges_of(target, context):
                if leads_to(edge, b):
                    return True
                following += context.names.at(edge.callee_path, edge.callee) if edge.callee_path else []
        front = [one for one in dict.fromkeys(following) if one not in seen]
        seen.update(front)
    return False


def _folder_imports(source: str, target: str, context: Context) -> Verdict:
    """Whether a file below one folder imports a file below another one."""

    def is_below(path: str, folder: str) -> bool:
        return folder == "." or path.startswith(f"{folder}/")

    for path in context.sources.files:
        if is_below(path, source):
            for other in context.sources.graph.imports_of(path):
                if is_below(other, target) and not is_below(path, target):
                    return supported(path)
    return contradicted(f"no file of {source} imports one of {target}")


def _imports(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    files = dict.fromkeys(target.path for target in a.targets if target.is_file)
    if not files:
        files = dict.fromkeys(target.path for target in a.targets)
    path = next(iter(files))
    lines = [line for one in files for line in _imports_one(one, b, context)]
    if not lines:
        names = sorted({one.module for each in files for one in context.sources.files[each].imports})
        return contradicted(f"{path} imports {_some(names)}", path)
    if where is not None and lines != [0] and not any(where.start <= line <= where.last for line in lines):
        return contradicted(f"{path} imports it at line {lines[0]}", path)
    return supported(path)


def _imports_one(path: str, b: End, context: Context) -> list[int]:
    """The lines where a file imports the other end; `[0]` where only the graph knows that it does."""
    lines = []
    graph, facts = context.sources.graph, context.sources.files[path]
    for one in facts.imports:
        whole = f"{one.module}.{one.name}" if one.name and one.module else one.module or one.name
        outside = not one.level and (b.name in (one.module, whole) or one.module.startswith(b.name + "."))
        header = facts.language in ("c", "cpp", "cuda") and any(
            t.path == one.module or t.path.endswith("/" + one.module) for t in b.targets
        )
        if (
            outside
            or header
            or (one.name and one.name == b.last and _same(path, one.alias or one.name, b, context))
        ):
            lines.append(one.line)
    if not lines and {one.path for one in b.targets if one.is_file} & set(graph.imports_of(path)):
        return [0]
    return lines


def _same(path: str, name: str, b: End, context: Context) -> bool:
    found = context.sources.graph.resolve(path, name)
    return not b.targets or found is None or any(found == (one.path, one.qualname) for one in b.targets)


def _directly_inherits(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    return _inherits(a, b, context, where, far=False)


def _inherits(a: End, b: End, context: Context, where: Place | None, far: bool = True) -> Verdict:
    classes = [one for one in a.targets if one.is_class]
    path = a.targets[0].path
    if not classes:
        return contradicted(f"{a.name} is no class", path)
    for one in classes:
        for each in context.names.lineage(one) if far else (one,):
            first, others = context.names.bases(each)
            if any(base in b.targets for base in first):
                return supported(path)
            if any(
                name == b.name or name.endswith("." + b.name) or b.name.endswith("." + name)
                for name in others
            ):
                return supported(path)
    written = [base_name(base) for base in classes[0].definition.bases]
    unknown = any(context.names.bases(each)[1] for one in classes for each in context.names.lineage(one))
    if unknown and not b.targets and not context.strict:
        return unverified(f"some bases of {a.name} are outside of the sources", path)
    return contradicted(f"the bases of {a.name} are {_some(written)}", path)


def _raises(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    path = a.targets[0].path
    raised: list[Raised] = []
    for target in a.targets:
        prefix = target.qualname + "."
        for definition in context.sources.files[target.path].definitions:
            inside = definition.qualname == target.qualname or definition.qualname.startswith(prefix)
            raised += definition.raised if inside or target.is_file else ()
    same = [one for one in raised if exception_name(one.exception).rpartition(".")[2] == b.last]
    at_line = [one for one in same if where is None or where.start <= one.line <= where.last]
    if at_line:
        return supported(path)
    if same:
        return contradicted(f"{a.name} raises {b.name} at {path}:{same[0].line}", path)
    said = f"{a.name} raises {_some(sorted({exception_name(one.exception) for one in raised}))}"
    return contradicted(said, path) if context.strict else unverified(said, path)


def exception_name(written: str) -> str:
    """The class of an exception as raised: `errors.Wrong("x")` gives `errors.Wrong`."""
    return clean(re.split(r"[({ ]", written.strip(), maxsplit=1)[0])


def _overrides(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    names = context.names
    path = a.targets[0].path
    for target in a.targets:
        owner, _, method = target.qualname.rpartition(".")
        for holder in names.defined_exactly(target.path, owner) if owner else []:
            for base in list(names.lineage(holder))[1:]:
                same = names.defined_exactly(base.path, f"{base.qualname}.{method}")
                if base in b.targets and same or set(same) & set(b.targets):
                    return supported(path)
            others = [name for each in names.lineage(holder) for name in names.bases(each)[1]]
            if any(
                b.name in (other, f"{other}.{method}") or other.endswith("." + b.name) for other in others
            ):
                return unverified(f"{b.name} is outside of the sources", path)
    return contradicted(f"no base of {a.name} is {b.name} and defines it", path)


def _decorates(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    if not b.targets:
        return unverified(f"the sources define no {b.name}")
    path = b.targets[0].path
    written = [clean(one) for target in b.targets for one in target.definition.decorators]
    if any(one == a.name or one.rpartition(".")[2] == a.last for one in written):
        return supported(path)
    return contradicted(f"the decorators of {b.name} are {_some(written)}", path)


def _launches(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    path = a.targets[0].path
    launches: list[Launch] = []
    for target in a.targets:
        for definition in context.sources.files[target.path].definitions:
            inside = target.is_file or definition.qualname == target.qualname
            launches += definition.launches if inside else ()
    same = [one for one in launches if base_name(one.kernel).rpartition(".")[2] == b.last]
    if any(where is None or where.start <= one.line <= where.last for one in same):
        return supported(path)
    if same:
        return contradicted(f"{a.name} launches {b.name} at {path}:{same[0].line}", path)
    return contradicted(f"{a.name} launches {_some([one.kernel for one in launches])}", path)


def _binds(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    path = a.targets[0].path
    bindings = [one for target in a.targets for one in context.sources.files[target.path].bindings]
    same = [one for one in bindings if b.last in (clean(one.function).rpartition(".")[2], one.name)]
    if any(where is None or where.start <= one.line <= where.last for one in same):
        return supported(path)
    return contradicted(f"{path} binds {_some([one.function for one in bindings])}", path)


def _some(names: list[str]) -> str:
    """At most six names for a message."""
    shown = list(dict.fromkeys(names))
    return (", ".join(shown[:6]) + (f" and {len(shown) - 6} more" if len(shown) > 6 else "")) or "nothing"


_RULES: dict[str, Callable[[End, End, Context, Place | None], Verdict]] = {
    "calls": _calls,
    "may call": _may_call,
    "instantiates": _instantiates,
    "uses": _uses,
    "imports": _imports,
    "inherits from": _inherits,
    "directly inherits from": _directly_inherits,
    "raises": _raises,
    "overrides": _overrides,
    "decorates": _decorates,
    "launches": _launches,
    "binds": _binds,
}
VERBS: Final = frozenset(_RULES) | frozenset(SYNONYMS) | {
    "is called by", "may be called by", "is imported by", "is used by", "is raised by", "is launched by",
    "is instantiated by", "is decorated by", "is overridden by",
}  # fmt: skip
