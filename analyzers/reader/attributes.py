"""The classes of a resolution order in, what their constructors set on `self` out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst
from libcst.helpers import get_full_name_for_node

from forwardbook.analyzers.reader.facts import Attribute
from forwardbook.analyzers.reader.functions import config_reads, parameter_names
from forwardbook.analyzers.reader.resolve import Definition, methods_of
from forwardbook.analyzers.reader.sources import SourceFile, descend

_PARAMETERS = {"Parameter", "UninitializedParameter"}
_BUFFERS = {"Buffer", "UninitializedBuffer"}


def attributes_of(mro: list[Definition]) -> Iterator[Attribute]:
    """Every `self.x = ...` of the constructors from the class up; `register_buffer` and its like too."""
    seen: set[str] = set()
    for owner in mro:
        assert isinstance(owner.node, cst.ClassDef)
        constructor = methods_of(owner.node).get("__init__")
        if constructor is None or owner.source.module.startswith("torch.nn.modules.module"):
            continue
        own = _set_by(owner.source, constructor)
        yield from (item for item in own if item.name not in seen)
        seen |= {item.name for item in own}


@lru_cache(maxsize=4096)
def _set_by(source: SourceFile, constructor: cst.FunctionDef) -> tuple[Attribute, ...]:
    return tuple(_sets(source, constructor))


def _sets(source: SourceFile, constructor: cst.FunctionDef) -> Iterator[Attribute]:
    arguments = {name.lstrip("*") for name in parameter_names(constructor)} - {"self"}
    for node in descend(constructor.body):
        if isinstance(node, cst.Assign):
            for target in node.targets:
                yield from _assigned(source, target.target, node.value, node, arguments)
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            yield from _assigned(source, node.target, node.value, node, arguments)
        elif isinstance(node, cst.Call):
            yield from _registered(source, node)


def _assigned(
    source: SourceFile, target: cst.CSTNode, value: cst.BaseExpression, node: cst.CSTNode, arguments: set[str]
) -> Iterator[Attribute]:
    if isinstance(target, cst.Tuple):
        for element in target.elements:
            yield from _assigned(source, element.value, value, node, arguments)
    elif isinstance(target, cst.Attribute) and get_full_name_for_node(target.value) == "self":
        kind, class_name = kind_of(source, value, arguments)
        yield Attribute(
            target.attr.value, source.code(value), kind, class_name, str(source.path), source.span(node)
        )


def _registered(source: SourceFile, call: cst.Call) -> Iterator[Attribute]:
    """`self.register_buffer("x", ...)`, `register_parameter`, `add_module` and `register_module`."""
    name = get_full_name_for_node(call.func) or ""
    kinds = {"register_buffer": "buffer", "register_parameter": "parameter", "add_module": "submodule",
             "register_module": "submodule"}  # fmt: skip
    owner, _, method = name.rpartition(".")
    if owner != "self" or method not in kinds or len(call.args) < 2:
        return
    first = call.args[0].value
    if isinstance(first, cst.SimpleString):
        text = source.code(call.args[1].value)
        class_name = constructed(call.args[1].value) if kinds[method] == "submodule" else ""
        yield Attribute(
            str(first.evaluated_value), text, kinds[method], class_name, str(source.path), source.span(call)
        )


def kind_of(source: SourceFile, value: cst.BaseExpression, arguments: set[str]) -> tuple[str, str]:
    """What an attribute's expression says it is, and the class a submodule is made from."""
    class_name = constructed(value)
    last = class_name.rpartition(".")[2]
    if last in _PARAMETERS:
        return "parameter", ""
    if last in _BUFFERS:
        return "buffer", ""
    if last[:1].isupper() and not last.isupper():
        return "submodule", class_name
    if any(True for _ in config_reads(source, value)):
        return "config field", ""
    names = {item.value for item in descend(value) if isinstance(item, cst.Name)} - {"True", "False", "None"}
    if names & arguments:
        return "argument", ""
    if not names:
        return "constant", ""
    return "expression", ""


def constructed(value: cst.CSTNode) -> str:
    """The name called by an expression, "" when it is no call of a plain name."""
    if isinstance(value, cst.Subscript) and (get_full_name_for_node(value.value) or "").startswith("ACT2"):
        return "Activation"
    return (get_full_name_for_node(value.func) or "") if isinstance(value, cst.Call) else ""
