"""Two ends of a relation in; whether one calls, instantiates or uses the other out."""

from __future__ import annotations

import re

from forwardbook.book.verify.claims import Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context
from forwardbook.book.verify.edges import End, edges_of, leads_to, some
from forwardbook.book.verify.import_rules import import_lines
from forwardbook.book.verify.inline import Place
from forwardbook.book.verify.names import Target, clean


def calls(a: End, b: End, context: Context, where: Place | None, may: bool = False) -> Verdict:
    """Whether one calls the other for sure, or with `may` possibly."""
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
    return contradicted(f"{a.name} calls {some(sorted({edge.callee for edge in edges}))}", path)


def may_call(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    """Whether one calls the other, for sure or possibly."""
    return calls(a, b, context, where, may=True)


def instantiates(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    """Whether one makes an instance of the other."""
    if b.targets and not any(one.is_class for one in b.targets):
        return contradicted(f"{b.name} is no class but a {b.targets[0].definition.kind}", b.targets[0].path)
    return calls(a, b, context, where, may=True)


def uses(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    """Whether one mentions, calls or imports the other."""
    path = a.targets[0].path
    for target in a.targets:
        lines = context.sources.lines(target.path) or ()
        span = target.definition.decorated
        text = "\n".join(lines if target.is_file else lines[span.start - 1 : target.definition.span.end])
        if re.search(rf"\b{re.escape(b.last)}\b", text):
            return supported(path)
        if any(leads_to(edge, b) for edge in edges_of(target, context)):
            return supported(path)
        if target.is_file and import_lines(target.path, b, context):
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
