"""A verb and two names in; whether the facts and the call graph hold this relation between them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from forwardbook.book.verify.call_rules import calls, instantiates, may_call, uses
from forwardbook.book.verify.claims import Verdict, contradicted, unverified
from forwardbook.book.verify.context import Context
from forwardbook.book.verify.definition_rules import (
    binds,
    decorates,
    directly_inherits,
    inherits,
    launches,
    overrides,
    raises,
)
from forwardbook.book.verify.edges import End
from forwardbook.book.verify.import_rules import folder_imports, imports
from forwardbook.book.verify.inline import Place
from forwardbook.book.verify.names import clean

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
        return folder_imports(source, target, context)
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


_RULES: dict[str, Callable[[End, End, Context, Place | None], Verdict]] = {
    "calls": calls,
    "may call": may_call,
    "instantiates": instantiates,
    "uses": uses,
    "imports": imports,
    "inherits from": inherits,
    "directly inherits from": directly_inherits,
    "raises": raises,
    "overrides": overrides,
    "decorates": decorates,
    "launches": launches,
    "binds": binds,
}
VERBS: Final = frozenset(_RULES) | frozenset(SYNONYMS) | {
    "is called by", "may be called by", "is imported by", "is used by", "is raised by", "is launched by",
    "is instantiated by", "is decorated by", "is overridden by",
}  # fmt: skip
