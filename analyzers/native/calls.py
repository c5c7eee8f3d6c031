"""Turns the nodes of calls into calls, launches and throws, each as written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forwardbook.analyzers.index.facts import Call, Launch
from forwardbook.analyzers.native.masking import Masks

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST = 80
_MOST = 64
_TEMPLATES = re.compile(r"<[^<>]*>")
_NAMES = re.compile(r"[\w~.:>-]+(?:\(\)[\w~.:>-]*)*\Z")
_LAMBDA = re.compile(r"\{.*\Z", re.DOTALL)
_LAUNCHERS = re.compile(
    r"(?:\w*::)*(?:cudaLaunchKernel(?:Ex|ExC)?|cudaLaunchCooperativeKernel|cuLaunchKernel(?:Ex)?"
    r"|hipLaunchKernel(?:GGL)?)\Z"
)


def shortened(text: str) -> str:
    """A text with what is beyond the longest shown cut to an ellipsis."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def call_of(node: Node, masks: Masks) -> Call:
    """One call: the callee without template arguments, the arguments as written, long ones cut."""
    callee = node.child_by_field_name("function")
    given = node.child_by_field_name("arguments")
    target = callee_name(callee, masks) if callee is not None else "()"
    return Call(
        masks.line(node.start_byte),
        masks.column(node.start_byte),
        target,
        tuple(_argument(one, masks) for one in given.named_children[:_MOST] if one.type != "comment")
        if given
        else (),
    )


def callee_name(node: Node, masks: Masks) -> str:
    """The callee as written: `ns::f`, `this->run`, `make().run`; what has no name is `()`."""
    if node.type == "identifier":
        return masks.text(node.start_byte, node.end_byte)
    if node.type == "field_expression":
        receiver, member = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if receiver is None or member is None:
            return "()"
        sign = masks.data[receiver.end_byte : member.start_byte].strip()
        joint = "->" if sign.startswith(b"->") else "."
        return f"{_receiver(receiver, masks)}{joint}{_plain(masks.text(member.start_byte, member.end_byte))}"
    if node.type in (
        "call_expression",
        "parenthesized_expression",
        "lambda_expression",
        "subscript_expression",
    ):
        return _receiver(node, masks)
    name = _plain(masks.text(node.start_byte, node.end_byte))
    return name if _NAMES.match(name) else "()"


def _receiver(node: Node, masks: Masks) -> str:
    """What stands before a member, to the same rule."""
    chain: list[str] = []
    inner: Node | None = node
    while inner is not None and inner.type == "call_expression" and len(chain) < 40:
        chain.append("()")
        inner = inner.child_by_field_name("function")
        if inner is not None and inner.type == "field_expression":
            member = inner.child_by_field_name("field")
            before = inner.child_by_field_name("argument")
            sign = masks.data[before.end_byte : before.end_byte + 1] if before else b"."
            name = _plain(masks.text(member.start_byte, member.end_byte)) if member else ""
            chain.append(("->" if sign == b"-" else ".") + name)
            inner = before
    name = _plain(masks.text(inner.start_byte, min(inner.end_byte, inner.start_byte + 200))) if inner else ""
    return (name if _NAMES.match(name) else "()") + "".join(reversed(chain))


def _plain(text: str) -> str:
    """A name without template arguments and spaces."""
    if "<" in text:
        before = ""
        while before != text:
            before, text = text, _TEMPLATES.sub("", text)
        text = text.removeprefix("template ").replace(" template ", "")
    return text.replace(" ", "")


def _argument(node: Node, masks: Masks) -> str:
    """One argument as written; of a lambda only its head."""
    end = min(node.end_byte, node.start_byte + 4 * LONGEST)
    text = masks.text(node.start_byte, end)
    return _LAMBDA.sub("{…}", text) if node.type == "lambda_expression" else shortened(text)


def launch_of(node: Node, masks: Masks) -> Launch | None:
    """The launch `kernel<<<...>>>(...)` that a call is, if it is one."""
    for child in node.children:
        if child.type == "kernel_call_syntax":
            callee = node.child_by_field_name("function")
            given = [
                shortened(masks.text(one.start_byte, one.end_byte))
                for one in child.named_children
                if one.type != "comment"
            ]
            kernel = _plain(masks.text(callee.start_byte, callee.end_byte)) if callee is not None else ""
            return launch(masks.line(child.start_byte), kernel, given)
    return None


def launch(line: int, kernel: str, given: list[str]) -> Launch:
    """A launch with the parts of its configuration that are given."""
    grid, block, shared, stream = (*given, "", "", "", "")[:4]
    return Launch(line, kernel, grid, block, shared, stream)


def runtime_launch(call: Call) -> Launch | None:
    """The launch that a call of the runtime or driver is (`cudaLaunchKernelEx(&config, kernel, ...)`)."""
    if not _LAUNCHERS.match(call.target):
        return None
    name, given = call.target.rpartition("::")[2], call.arguments
    at = [_plain(one.removeprefix("(void*)").removeprefix("(const void*)").lstrip("&")) for one in given]
    if name.startswith(("cudaLaunchKernelEx", "cuLaunchKernelEx")) and len(at) > 1:
        return Launch(call.line, at[1], grid=given[0], api=name)
    if name == "cuLaunchKernel" and len(at) >= 9:
        return Launch(
            call.line, at[0], _triple(given[1:4]), _triple(given[4:7]), given[7], given[8], api=name
        )
    if name == "hipLaunchKernelGGL" and len(at) >= 5:
        return Launch(call.line, at[0], given[1], given[2], given[3], given[4], api=name)
    if len(at) >= 6:
        return Launch(call.line, at[0], given[1], given[2], given[4], given[5], api=name)
    return Launch(call.line, at[0], api=name) if at else None


def _triple(given: tuple[str, ...]) -> str:
    """Three sizes as one."""
    return f"({', '.join(given)})"
