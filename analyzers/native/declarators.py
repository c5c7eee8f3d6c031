"""Turns the declarator of a C++ declaration into its name, parameters and return type, each as written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forwardbook.analyzers.index.facts import Parameter
from forwardbook.analyzers.native.masking import Masks

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES = {
    "identifier", "field_identifier", "qualified_identifier", "destructor_name", "operator_name",
    "type_identifier", "template_function", "template_method", "dependent_name",
}  # fmt: skip
_PARAMETERS = {"parameter_declaration", "optional_parameter_declaration", "variadic_parameter_declaration"}
_NOT_TYPES = re.compile(
    r"\b(?:static|inline|virtual|explicit|extern|friend|constexpr|consteval|constinit|typedef|thread_local|mutable"
    r"|__global__|__device__|__host__|__forceinline__|__noinline__|__inline__|__inline)\b|\[\[.*?\]\]"
    r"|\b(?:__\w+__|__declspec|__attribute|explicit|alignas)\s*\([^()]*(?:\([^()]*\))*[^()]*\)"
)
_OPERATOR = re.compile(r"\boperator\b.*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarator of a function: its name as written, where that begins, the node with the parameters."""

    name: str
    start: int
    node: Node


def function_declarator(node: Node, masks: Masks) -> Declared | None:
    """The named function that a declaration declares, or nothing where it declares none."""
    inner = node.child_by_field_name("declarator")
    for _ in range(40):
        if inner is None:
            return None
        if inner.type == "operator_cast" or inner.type == "qualified_identifier":
            return _conversion(inner, masks)
        if inner.type == "function_declarator":
            named = inner.child_by_field_name("declarator")
            if named is not None and named.type in _NAMES:
                return Declared(masks.text(named.start_byte, named.end_byte), named.start_byte, inner)
            if named is not None and _pointed(named):
                return None
        inner = _within(inner)
    return None


def _conversion(node: Node, masks: Masks) -> Declared | None:
    """The conversion operator (`A::operator bool`) that a declarator names, or nothing."""
    cast: Node | None = node
    while cast is not None and cast.type == "qualified_identifier":
        cast = cast.child_by_field_name("name")
    if cast is None or cast.type != "operator_cast":
        return None
    inner = cast.child_by_field_name("declarator")
    while inner is not None and inner.type != "abstract_function_declarator":
        inner = inner.child_by_field_name("declarator")
    if inner is None:
        return None
    return Declared(masks.text(node.start_byte, inner.start_byte), node.start_byte, inner)


def _pointed(node: Node) -> bool:
    """Whether the name in the brackets is that of a pointer (`(*call)(int)`), not of a function."""
    return all(inner.type != "function_declarator" for inner in _inner_declarators(node))


def _inner_declarators(node: Node) -> list[Node]:
    """The declarators within a declarator, from outside to inside."""
    found: list[Node] = []
    inner = _within(node)
    while inner is not None and len(found) < 40:
        found.append(inner)
        inner = _within(inner)
    return found


def _within(node: Node) -> Node | None:
    """The declarator one step further inside."""
    named = node.child_by_field_name("declarator")
    if named is not None:
        return named
    if node.type in (
        "reference_declarator",
        "parenthesized_declarator",
        "variadic_declarator",
        "attributed_declarator",
        "init_declarator",
    ):
        return next(
            (child for child in node.named_children if not child.type.endswith(("comment", "qualifier"))),
            None,
        )
    return None


def declared_name(node: Node) -> Node | None:
    """The node of the name that a variable's or parameter's declarator binds."""
    for inner in [node, *_inner_declarators(node)]:
        if inner.type in _NAMES:
            return inner
    return None


def without_templates(name: str) -> str:
    """A name without template arguments and spaces: `A<int>::f<T>` is `A::f`; an operator keeps its sign."""
    operator = _OPERATOR.search(name)
    head = name[: operator.start()] if operator else name
    tail = " ".join(operator[0].split()) if operator else ""
    kept, depth = [], 0
    for sign in head:
        depth += (sign == "<") - (sign == ">" and depth > 0)
        if not depth and sign not in "> \n\t":
            kept.append(sign)
    tail = re.sub(r"operator (?=\W)", "operator", tail)
    return "".join(kept) + tail


def name_parts(name: str) -> tuple[str, ...]:
    """The parts of a qualified name: `ns::Foo<T>::run` is `ns`, `Foo`, `run`."""
    return tuple(part for part in without_templates(name).split("::") if part)


def parameters_of(declarator: Node, masks: Masks) -> tuple[Parameter, ...]:
    """The parameters of a function declarator; `f(void)` has none."""
    listed = declarator.child_by_field_name("parameters")
    if listed is None:
        return ()
    found = [
        _parameter(child, masks)
        for child in listed.children
        if child.type in _PARAMETERS or child.type == "..."
    ]
    return () if [one.annotation for one in found] == ["void"] and not found[0].name else tuple(found)


def _parameter(node: Node, masks: Masks) -> Parameter:
    """One parameter: its name, its type with the name left out, its default."""
    if node.type == "...":
        return Parameter("...", "*")
    declarator = node.child_by_field_name("declarator")
    default = node.child_by_field_name("default_value")
    name = declared_name(declarator) if declarator is not None else None
    if name is None and declarator is not None and declarator.type == "variadic_declarator":
        name = next(iter(declarator.named_children), None)
    end = _before_default(node, default, masks) if default is not None else node.end_byte
    variadic = node.type == "variadic_parameter_declaration"
    return Parameter(
        masks.text(name.start_byte, name.end_byte) if name else "",
        "*" if variadic else "",
        _without(masks, node.start_byte, end, name),
        masks.text(default.start_byte, default.end_byte) if default is not None else "",
    )


def _before_default(node: Node, default: Node, masks: Masks) -> int:
    """The byte of the `=` before a default."""
    sign = masks.flat.rfind(b"=", node.start_byte, default.start_byte)
    return sign if sign >= 0 else default.start_byte


def _without(masks: Masks, start: int, end: int, name: Node | None) -> str:
    """The text between two bytes without the name in it: `float z[4]` is `float[4]`."""
    if name is None:
        return masks.text(start, end)
    before, after = masks.text(start, name.start_byte), masks.text(name.end_byte, end)
    return before + after if not before or not after or after[0] in "[)(" else f"{before} {after}"


def returned_type(node: Node, declared: Declared, masks: Masks) -> str:
    """The return type as written, a trailing one where there is one; constructors have none."""
    trailing = next((one for one in declared.node.children if one.type == "trailing_return_type"), None)
    if trailing is not None:
        return masks.text(trailing.start_byte, trailing.end_byte).removeprefix("->").strip()
    if node.child_by_field_name("type") is None:
        converted = re.search(r"\boperator\s+(?=\w)", declared.name)
        return declared.name[converted.end() :] if converted else ""
    return " ".join(_NOT_TYPES.sub(" ", masks.text(node.start_byte, declared.start)).split())
