"""A function's node in, its signature as written and its parameters with their meaning out."""

from __future__ import annotations

import ast
from typing import Literal

from forwardbook.analyzers.detail.docstrings import Docstring, Said
from forwardbook.analyzers.detail.facts import Line, ParameterDetail, Returned
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Defined, Scope
from forwardbook.analyzers.detail.syntax import Function
from forwardbook.analyzers.index.header import header_end, words
from forwardbook.analyzers.index.header import parameters as written
from forwardbook.analyzers.index.header import signature as joined_signature

Kind = Literal["function", "method", "property", "static method", "class method"]


def signature(file: OpenFile, node: Defined) -> str:
    """The text from `def` or `class` to before the colon, its line breaks kept, its indentation taken off."""
    source = file.syntax.source
    end = header_end(source, node)
    if end is None or end[0] == node.lineno:
        return joined_signature(source, node)
    lines = [source.row(node.lineno, node.col_offset)]
    lines += [source.row(line) for line in range(node.lineno + 1, end[0])]
    lines.append(source.row(end[0], 0, end[1]))
    blank = " " * node.col_offset
    return "\n".join([lines[0], *(each.removeprefix(blank) for each in lines[1:])]).rstrip()


def parameters(file: OpenFile, scope: Scope, said: Docstring) -> tuple[ParameterDetail, ...]:
    """The parameters of a function in their order, each with the docstring's words."""
    node = scope.function
    assert node is not None
    found = []
    for each in written(file.syntax.source, node.args):
        about = said.parameters.get(each.name, Said())
        found.append(
            ParameterDetail(each.name, each.kind, each.annotation, each.default, about.meaning, about.type)
        )
    return tuple(found)


def returned(file: OpenFile, scope: Scope, said: Docstring) -> Returned:
    """What a function gives back: the annotation, the docstring's words, each `return` and `yield`."""
    node = scope.function
    assert node is not None
    about = said.yields if said.yields != Said() and said.returns == Said() else said.returns
    values = [Line(each.lineno, _value(file, each)) for each in scope.each(ast.Return)]
    yields = [
        Line(each.lineno, ("from " if isinstance(each, ast.YieldFrom) else "") + _value(file, each))
        for each in scope.each(ast.Yield, ast.YieldFrom)
        if not _in_lambda(file, each)
    ]
    annotation = words(file.syntax.source, node.returns) if node.returns else ""
    return Returned(annotation, about.meaning, about.type, tuple(values), tuple(yields))


def _value(file: OpenFile, node: ast.AST) -> str:
    value = getattr(node, "value", None)
    return file.text(value) if isinstance(value, ast.expr) else ""


def _in_lambda(file: OpenFile, node: ast.AST) -> bool:
    return any(isinstance(each, ast.Lambda) for each in file.scopes.above(node))


def kind_of(node: Function, scope: Scope) -> Kind:
    """Whether a function is a method, a property, a static or a class method, or none of these."""
    if scope.around is None or not scope.around.is_class:
        return "function"
    for mark in node.decorator_list:
        called = mark.func if isinstance(mark, ast.Call) else mark
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in ("property", "cached_property", "abstractproperty", "setter", "getter", "deleter"):
            return "property"
        if name in ("staticmethod", "classmethod"):
            return "static method" if name == "staticmethod" else "class method"
    return "method"
