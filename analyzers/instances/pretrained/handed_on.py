"""A method of a model in; out all that it asks for, what it hands on to forward() included.

`fold(self, attention_mask, ..., **trunk_kwargs)` says in its signature a part of what it needs: its code
takes `trunk_kwargs.pop("ref_pos")` and calls `self(attention_mask=attention_mask, **trunk_kwargs)`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from inspect import Parameter, Signature

from torch import nn

from forwardbook.analyzers.instances.callers import source_of
from forwardbook.analyzers.instances.pretrained.described import fields_of


def whole_signature(cls: type[nn.Module], method: str) -> Signature:
    """The signature of a method, with what it takes out of its `**kwargs` and what it hands to forward()."""
    function = getattr(cls, method)
    signature = inspect.signature(function)
    rest = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
    if rest is None:
        return signature
    tree = _tree(function)
    found = {name: Parameter(name, Parameter.KEYWORD_ONLY) for name in _taken_out(tree, rest)}
    # the first is the model itself
    _, *described = inspect.signature(cls.forward).parameters.values()
    needed = [p for p in described if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    for given in _calls(tree, rest):
        found |= {p.name: p.replace(kind=Parameter.KEYWORD_ONLY) for p in needed if p.name not in given}
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    more = [p for name, p in found.items() if name not in signature.parameters]
    return signature.replace(parameters=[*own, *more, signature.parameters[rest]])


def whole_docstring(cls: type[nn.Module], method: str) -> str:
    """What a method says of what it takes, what forward() says, and objects that forward() takes."""
    taken = [p.annotation for p in inspect.signature(cls.forward).parameters.values()]
    described = [getattr(cls, method), cls.forward, *(one for one in taken if fields_of(one))]
    return "\n\n".join(inspect.getdoc(one) or "" for one in described)


def _tree(function: Callable[..., object]) -> ast.AST:
    try:
        return ast.parse(textwrap.dedent(source_of(function)))
    except SyntaxError:  # a text within it begins further to the left
        return ast.Module([], [])


def _taken_out(tree: ast.AST, rest: str) -> Iterator[str]:
    """The keys that are popped or read without another value for where they are missing."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(ast.Name(owner), "pop"), args=[ast.Constant(str() as key)]):
                if owner == rest:
                    yield key
            case ast.Subscript(ast.Name(owner), ast.Constant(str() as key), ast.Load()) if owner == rest:
                yield key


def _calls(tree: ast.AST, rest: str) -> Iterator[set[str]]:
    """Calls of the model itself that hand on what is left: the names that each gives beside it."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name("self") | ast.Attribute(ast.Name("self"), "forward"), [], keywords):
                handed = [k.value for k in keywords if k.arg is None]
                if any(isinstance(one, ast.Name) and one.id == rest for one in handed):
                    yield {k.arg for k in keywords if k.arg is not None}
