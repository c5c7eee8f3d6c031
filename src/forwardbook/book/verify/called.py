"""A message of a diagram and call edges in; the edges that it can stand for, and their arguments, out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from forwardbook.analyzers.index.facts import Edge
from forwardbook.book.verify.context import Context
from forwardbook.book.verify.edges import End
from forwardbook.book.verify.names import Target, clean
from forwardbook.book.verify.same import same_text

_CONSTRUCTORS = ("__init__", "__new__", "__call__")


def is_called(edge: Edge, name: str, b: End, strict: bool) -> bool:
    """Whether a call edge is a call of `name` in the receiver."""
    last = name.rpartition(".")[2]
    made = clean(edge.constructs)
    if made.rpartition(".")[2] == last and any(one.qualname == made for one in b.targets):
        return True
    if not edge.callee_path:
        return _is_called_outside(edge, name, b, strict)
    owner, _, called = clean(edge.callee).rpartition(".")
    constructed = called in _CONSTRUCTORS and owner.rpartition(".")[2] == last
    if called != last and not constructed:
        return False
    return not b.targets or any(_holds(target, edge) for target in b.targets) or b.last == last


def _is_called_outside(edge: Edge, name: str, b: End, strict: bool) -> bool:
    callee = clean(edge.callee)
    if strict and edge.how == "external" and not b.targets:
        return callee in (name, f"{b.name}.{name}", b.name)
    if callee.rpartition(".")[2] != name.rpartition(".")[2]:
        return False
    is_inside = callee == b.name or callee.startswith(b.name + ".")
    return not b.targets or edge.how == "unresolved" or is_inside


def _holds(target: Target, edge: Edge) -> bool:
    if target.path != edge.callee_path:
        return False
    return target.is_file or edge.callee == target.qualname or edge.callee.startswith(target.qualname + ".")


def functions_of(edges: Iterable[Edge], context: Context) -> tuple[Target, ...]:
    """What runs when these calls are made: the functions themselves, for a class what makes its instances."""
    names, found = context.names, dict[Target, None]()
    for edge in edges:
        for target in names.at(edge.callee_path, edge.callee) if edge.callee_path else []:
            inner = names.method(target, "__init__") if target.is_class else []
            found.update(dict.fromkeys(inner or [target]))
    return tuple(found)


def passed_arguments(edges: list[Edge], name: str, context: Context) -> list[tuple[str, ...]]:
    """The arguments, as written, of the calls that these edges stand for."""
    places = {(edge.path, edge.line) for edge in edges}
    last = name.rpartition(".")[2]
    found = []
    for path in {edge.path for edge in edges}:
        facts = context.sources.files[path]
        calls = [*facts.calls, *(call for one in facts.definitions for call in one.calls)]
        same = [call for call in calls if (path, call.line) in places]
        named = [call for call in same if clean(call.target).rpartition(".")[2] == last]
        found += [call.arguments for call in named or same]
    return list(dict.fromkeys(found))


def same_arguments(shown: str, edges: list[Edge], name: str, context: Context) -> bool:
    """Whether a call passes the shown arguments in this order, or its callee's parameters are called so."""
    wanted = split_arguments(shown)
    if any(in_order(wanted, list(given)) for given in passed_arguments(edges, name, context)):
        return True
    for edge in edges:
        for target in context.names.at(edge.callee_path, edge.callee) if edge.callee_path else []:
            for one in (
                (target, *context.names.method(target, "__init__")) if target.is_class else (target,)
            ):
                if in_order(wanted, [parameter.name for parameter in one.definition.parameters]):
                    return True
    return False


def in_order(shown: list[str], given: list[str]) -> bool:
    """Whether the shown arguments are among the given ones, in their order."""
    rest = iter(given)
    return all(one in ("...", "…") or any(_is_argument(one, each) for each in rest) for one in shown)


def _is_argument(shown: str, given: str) -> bool:
    if same_text(shown, given):
        return True
    return same_text(shown, given.partition("=")[2]) if re.match(r"\w+\s*=[^=]", given) else False


def split_arguments(text: str) -> list[str]:
    """The arguments between the commas that stand in no bracket and no quotes."""
    found, depth, quote, begin = [], 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
    return [one for one in [*found, text[begin:].strip()] if one]
