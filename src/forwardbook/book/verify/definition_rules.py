"""Two ends of a relation in; whether definitions inherit, raise, override, decorate or launch so out."""

from __future__ import annotations

import re

from forwardbook.analyzers.index.facts import Launch, Raised
from forwardbook.book.verify.claims import Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context
from forwardbook.book.verify.edges import End, some
from forwardbook.book.verify.inline import Place
from forwardbook.book.verify.names import base_name, clean


def directly_inherits(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    """Whether the other is written among the bases."""
    return inherits(a, b, context, where, far=False)


def inherits(a: End, b: End, context: Context, where: Place | None, far: bool = True) -> Verdict:
    """Whether the other is among the bases, or with `far` among theirs."""
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
    return contradicted(f"the bases of {a.name} are {some(written)}", path)


def raises(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    """Whether a `raise` of that exception stands in one."""
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
    said = f"{a.name} raises {some(sorted({exception_name(one.exception) for one in raised}))}"
    return contradicted(said, path) if context.strict else unverified(said, path)


def exception_name(written: str) -> str:
    """The class of an exception as raised: `errors.Wrong("x")` gives `errors.Wrong`."""
    return clean(re.split(r"[({ ]", written.strip(), maxsplit=1)[0])


def overrides(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    """Whether a base of the method's class defines the method too."""
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


def decorates(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    """Whether one is written as a decorator of the other."""
    if not b.targets:
        return unverified(f"the sources define no {b.name}")
    path = b.targets[0].path
    written = [clean(one) for target in b.targets for one in target.definition.decorators]
    if any(one == a.name or one.rpartition(".")[2] == a.last for one in written):
        return supported(path)
    return contradicted(f"the decorators of {b.name} are {some(written)}", path)


def launches(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    """Whether one launches a kernel of that name."""
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
    return contradicted(f"{a.name} launches {some([one.kernel for one in launches])}", path)


def binds(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    """Whether a file makes a native function callable from Python."""
    path = a.targets[0].path
    bindings = [one for target in a.targets for one in context.sources.files[target.path].bindings]
    same = [one for one in bindings if b.last in (clean(one.function).rpartition(".")[2], one.name)]
    if any(where is None or where.start <= one.line <= where.last for one in same):
        return supported(path)
    return contradicted(f"{path} binds {some([one.function for one in bindings])}", path)
