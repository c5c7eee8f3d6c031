"""Turns the nodes of a C++ file, in the order of the text, into drafts of its definitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forwardbook.analyzers.index.facts import Attribute, Call, Launch, Raised
from forwardbook.analyzers.native.calls import call_of, callee_name, launch_of, runtime_launch, shortened
from forwardbook.analyzers.native.classes import class_draft, typedef_draft
from forwardbook.analyzers.native.drafts import Draft, Scope
from forwardbook.analyzers.native.functions import function_draft, prototype_draft
from forwardbook.analyzers.native.grammar import Tag
from forwardbook.analyzers.native.headers import Headers
from forwardbook.analyzers.native.variables import variables_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(slots=True)
class Reading:
    """What has been read of one file so far, and the scopes that are open."""

    headers: Headers
    drafts: list[Draft] = field(default_factory=list)
    constants: list[Attribute] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    launched: set[int] = field(default_factory=set)  # the bytes of the `<<<` that the grammar found
    errors: list[int] = field(default_factory=list)
    namespaces: list[Scope] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)

    def inner(self, *kinds: str) -> Scope:
        """The innermost open scope of some kinds; the file where there is none."""
        return next((scope for scope in reversed(self.scopes) if scope.kind in kinds), self.scopes[0])


def read_nodes(nodes: list[tuple[Tag, Node]], headers: Headers) -> Reading:
    """Everything the nodes say."""
    reading = Reading(headers)
    reading.scopes.append(Scope("file", 0, len(headers.masks.data) + 1))
    for tag, node in nodes:
        while node.start_byte >= reading.scopes[-1].end and len(reading.scopes) > 1:
            reading.scopes.pop()
        _READERS[tag](reading, node)
    return reading


def _namespace(reading: Reading, node: Node) -> None:
    """Names within a namespace begin with its name; those of an unnamed one are not public."""
    outer = reading.inner("file", "namespace", "class")
    name = node.child_by_field_name("name")
    masks = reading.headers.masks
    added = tuple(masks.text(name.start_byte, name.end_byte).replace(" ", "").split("::")) if name else ()
    hidden = outer.hidden or not added
    scope = Scope("namespace", node.start_byte, node.end_byte, outer.names + added, hidden=hidden)
    reading.namespaces.append(scope)
    reading.scopes.append(scope)


def _class(reading: Reading, node: Node) -> None:
    """A class, struct, union or enum with a body."""
    outer = reading.inner("file", "namespace", "class", "function")
    draft = class_draft(node, outer, reading.scopes, reading.headers)
    if draft is None:  # without a name
        reading.scopes.append(Scope("block", node.start_byte, node.end_byte, outer.names, outer.draft))
        return
    reading.drafts.append(draft)
    access = "private" if node.type == "class_specifier" else "public"
    reading.scopes.append(Scope("class", node.start_byte, node.end_byte, draft.names, draft, access))


def _function(reading: Reading, node: Node) -> None:
    """A function with a body; a block under a macro (`PYBIND11_MODULE(m, n) {`) belongs to the file."""
    outer = reading.inner("file", "namespace", "class")
    draft = function_draft(node, outer, reading.scopes, reading.headers)
    names = draft.names if draft is not None else outer.names
    if draft is not None:
        reading.drafts.append(draft)
    end = draft.end if draft is not None else node.end_byte
    reading.scopes.append(Scope("function", node.start_byte, end, names, draft))


def _wrapper(reading: Reading, node: Node) -> None:
    """A template line or `extern "C"` before one declaration."""
    body = node.child_by_field_name("body")
    if body is not None and body.type == "declaration_list":
        return
    inner = next((child for child in reversed(node.named_children) if child.type != "comment"), node)
    header = reading.headers.masks.text(node.start_byte, inner.start_byte)
    reading.scopes.append(Scope("wrapper", node.start_byte, node.end_byte, header=header))


def _declaration(reading: Reading, node: Node) -> None:
    """A prototype or variables, of the file, of a class or of a function."""
    outer = reading.inner("file", "namespace", "class", "function", "block")
    if outer.kind == "block":
        if outer.draft is not None and outer.draft.kind in ("class", "struct", "union"):
            outer.draft.attributes += variables_of(node, reading.headers.masks)
        return
    if outer.kind == "function":
        if outer.draft is not None:
            outer.draft.variables += variables_of(node, reading.headers.masks)
        return
    draft = prototype_draft(node, outer, reading.scopes, reading.headers)
    if draft is not None:
        reading.drafts.append(draft)
    elif outer.kind == "class" and outer.draft is not None:
        outer.draft.attributes += variables_of(node, reading.headers.masks)
    else:
        reading.constants += variables_of(node, reading.headers.masks)


def _access(reading: Reading, node: Node) -> None:
    """`public:`, `protected:`, `private:` in a class (not before a base)."""
    scope = reading.inner("class")
    if scope.draft is not None and node.start_byte >= scope.draft.body:
        scope.access = reading.headers.masks.text(node.start_byte, node.end_byte).rstrip(": ")


def _typedef(reading: Reading, node: Node) -> None:
    """`using X = ...` and `typedef ... X` outside of functions."""
    outer = reading.inner("file", "namespace", "class", "function", "block")
    if outer.kind in ("file", "namespace", "class"):
        draft = typedef_draft(node, outer, reading.scopes, reading.headers)
        reading.drafts += [draft] if draft is not None else []


def _call(reading: Reading, node: Node) -> None:
    """A call or a launch, of the innermost definition."""
    launch = launch_of(node, reading.headers.masks)
    draft = reading.inner("class", "function").draft
    if launch is not None:
        reading.launched.add(reading.headers.masks.flat.find(b"<<<", node.start_byte, node.end_byte))
        (draft.launches if draft is not None else reading.launches).append(launch)
        return
    call = call_of(node, reading.headers.masks)
    (draft.calls if draft is not None else reading.calls).append(call)
    by_runtime = runtime_launch(call)
    if by_runtime is not None:
        (draft.launches if draft is not None else reading.launches).append(by_runtime)


def _throw(reading: Reading, node: Node) -> None:
    """`throw X(...)` with the condition of the innermost `if` around it."""
    draft = reading.inner("function").draft
    if draft is None:
        return
    masks = reading.headers.masks
    thrown = next((child for child in node.named_children if child.type != "comment"), None)
    exception = ""
    if thrown is not None:
        built = thrown.child_by_field_name("function") or thrown.child_by_field_name("type")
        exception = callee_name(built, masks) if built is not None else ""
        exception = exception or shortened(masks.text(thrown.start_byte, thrown.end_byte))
    draft.raised.append(Raised(masks.line(node.start_byte), exception, _condition(reading, node)))


def _condition(reading: Reading, node: Node) -> str:
    """The condition under which a statement runs, as far as the innermost `if` says."""
    for scope in reversed(reading.scopes):
        if scope.kind == "function":
            return ""
        if scope.kind == "branch":
            in_else = scope.otherwise and node.start_byte >= scope.otherwise
            return f"not ({scope.header})" if in_else else scope.header
    return ""


def _return(reading: Reading, node: Node) -> None:
    """What a function gives back."""
    draft = reading.inner("function").draft
    value = next((child for child in node.named_children if child.type != "comment"), None)
    if draft is not None and value is not None:
        end = min(value.end_byte, value.start_byte + 400)
        draft.returned.append(shortened(reading.headers.masks.text(value.start_byte, end)))


def _branch(reading: Reading, node: Node) -> None:
    """An `if` with its condition and where its `else` begins."""
    masks = reading.headers.masks
    condition, other = node.child_by_field_name("condition"), node.child_by_field_name("alternative")
    text = masks.text(condition.start_byte, condition.end_byte) if condition is not None else ""
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    otherwise = other.start_byte if other is not None else 0
    reading.scopes.append(
        Scope("branch", node.start_byte, node.end_byte, header=shortened(text), otherwise=otherwise)
    )


def _error(reading: Reading, node: Node) -> None:
    """A place that the grammar does not know."""
    reading.errors.append(reading.headers.masks.line(node.start_byte))


_READERS = {
    "namespace": _namespace,
    "class": _class,
    "function": _function,
    "wrapper": _wrapper,
    "declaration": _declaration,
    "field": _declaration,
    "access": _access,
    "typedef": _typedef,
    "call": _call,
    "throw": _throw,
    "return": _return,
    "branch": _branch,
    "error": _error,
}
