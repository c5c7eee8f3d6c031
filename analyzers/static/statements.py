"""Statements in, their effects on scopes; each gives the signal that ends its block, or None."""

from __future__ import annotations

from typing import Any

import libcst as cst

from forwardbook.analyzers.reader.bindings import imported
from forwardbook.analyzers.static.assignments import assign
from forwardbook.analyzers.static.expressions import truth
from forwardbook.analyzers.static.functions import parameters_of
from forwardbook.analyzers.static.interpreter import (
    BREAK,
    CONTINUE,
    Block,
    Interpreter,
    Return,
    executes,
    runs,
)
from forwardbook.analyzers.static.modules import Deferred, SourceModule
from forwardbook.analyzers.static.opaque import Opaque
from forwardbook.analyzers.static.scope import Scope
from forwardbook.analyzers.static.stand_ins import stand_in
from forwardbook.analyzers.static.unresolved import Unresolved


@executes(cst.Pass, cst.Global, cst.Nonlocal)
def nothing(run: Interpreter, node: cst.CSTNode, scope: Scope) -> None:
    """Statements that do nothing when they are reached."""


@executes(cst.Expr)
def expression(run: Interpreter, node: cst.Expr, scope: Scope) -> Any:
    """An expression for its effect; a `yield` suspends."""
    if isinstance(node.value, cst.Yield):
        return _yielded(run, node.value, scope)
    if not isinstance(node.value, cst.SimpleString | cst.ConcatenatedString | cst.Ellipsis):
        run.evaluate(node.value, scope)
    return None


def _yielded(run: Interpreter, node: cst.Yield, scope: Scope) -> Block:
    yield from suspended(run, node, scope)


def suspended(run: Interpreter, node: cst.Yield, scope: Scope) -> Block:
    """`yield value` and `yield from values`; gives what was sent."""
    if node.value is None:
        sent = yield None
        return sent
    if isinstance(node.value, cst.From):
        result = yield from run.evaluate(node.value.item, scope)
        return result
    sent = yield run.evaluate(node.value, scope)
    return sent


@executes(cst.Return)
def give_back(run: Interpreter, node: cst.Return, scope: Scope) -> Return:
    """`return value`."""
    return Return(None if node.value is None else run.evaluate(node.value, scope))


@executes(cst.Break)
def leave(run: Interpreter, node: cst.Break, scope: Scope) -> object:
    """`break`."""
    return BREAK


@executes(cst.Continue)
def again(run: Interpreter, node: cst.Continue, scope: Scope) -> object:
    """`continue`."""
    return CONTINUE


@executes(cst.Raise)
def raise_error(run: Interpreter, node: cst.Raise, scope: Scope) -> None:
    """`raise error from cause`."""
    if node.exc is None:
        if run.handled:
            raise run.handled[-1]
        raise RuntimeError("No active exception to reraise")
    error = run.evaluate(node.exc, scope)
    run.at(node)
    if isinstance(error, Opaque):
        raise error.refuse()
    if isinstance(error, type):
        error = run.call(error, (), {})
    if not isinstance(error, BaseException):
        raise TypeError("exceptions must derive from BaseException")
    raise error


@executes(cst.Assert)
def check(run: Interpreter, node: cst.Assert, scope: Scope) -> None:
    """`assert test, message`."""
    if not truth(run, node.test, scope):
        message = "" if node.msg is None else run.evaluate(node.msg, scope)
        raise AssertionError(message)


@executes(cst.Import, cst.ImportFrom)
def import_names(run: Interpreter, node: cst.Import | cst.ImportFrom, scope: Scope) -> None:
    """An import: of a module with source, its names are interpreted when they are used."""
    run.at(node)
    for binding in imported(node, node, run.source.package):
        if binding.name == "*":
            raise Unresolved(f"a star import of {binding.module} that is not at the top of a module")
        if not binding.attribute:
            run.imports.module(binding.module)
            scope.bind(binding.name, run.imports.module(binding.module))
            continue
        module = run.imports.module(binding.module)
        top_level = scope.names is scope.module.names
        if top_level and isinstance(module, SourceModule) and binding.attribute in module.source.bindings:
            scope.bind(binding.name, Deferred(module, binding.attribute))
        else:
            scope.bind(binding.name, run.imports.name(binding.module, binding.attribute))


@executes(cst.FunctionDef)
def define(run: Interpreter, node: cst.FunctionDef, scope: Scope) -> None:
    """`def`: defaults and decorators now, the body when it is called."""
    if node.asynchronous is not None:
        scope.bind(node.name.value, Opaque(node.name.value, "it is asynchronous"))
        return
    name = node.name.value
    qualname = f"{scope.names['__qualname__']}.{name}" if scope.is_class else _nested(scope, name)
    substitute = stand_in(f"{run.source.module}.{qualname}")
    if substitute is not None:
        scope.bind(name, substitute)
        return
    parameters = parameters_of(node.params, lambda default: run.evaluate(default, scope))
    function = run.function(node, scope, parameters, qualname)
    if scope.is_class:
        scope.names["__interpreted__"].functions.append(function)
    value: Any = function
    for decorator in reversed(node.decorators):
        wrap = run.evaluate(decorator.decorator, scope)
        run.at(decorator)
        value = run.call(wrap, (value,), {})
    scope.bind(name, value)


def _nested(scope: Scope, name: str) -> str:
    return f"{scope.function.__qualname__}.<locals>.{name}" if scope.function is not None else name


@runs(cst.If)
def branch(run: Interpreter, node: cst.If, scope: Scope) -> Block:
    """`if`, `elif`, `else`."""
    if truth(run, node.test, scope):
        return (yield from run.block(node.body, scope))
    if isinstance(node.orelse, cst.If):
        return (yield from branch(run, node.orelse, scope))
    if node.orelse is not None:
        return (yield from run.block(node.orelse.body, scope))
    return None


@runs(cst.While)
def repeat(run: Interpreter, node: cst.While, scope: Scope) -> Block:
    """`while`, each round counted."""
    while truth(run, node.test, scope):
        run.step()
        signal = yield from run.block(node.body, scope)
        if signal is BREAK:
            return None
        if signal is not None and signal is not CONTINUE:
            return signal
    if node.orelse is not None:
        return (yield from run.block(node.orelse.body, scope))
    return None


@runs(cst.For)
def loop(run: Interpreter, node: cst.For, scope: Scope) -> Block:
    """`for`, each round counted."""
    iterable = run.evaluate(node.iter, scope)
    run.at(node.iter)
    for item in run.iterate(iterable):
        assign(run, node.target, item, scope)
        signal = yield from run.block(node.body, scope)
        if signal is BREAK:
            return None
        if signal is not None and signal is not CONTINUE:
            return signal
        run.at(node.iter)
    if node.orelse is not None:
        return (yield from run.block(node.orelse.body, scope))
    return None


@runs(cst.With)
def manage(run: Interpreter, node: cst.With, scope: Scope) -> Block:
    """`with`, from the first item in."""
    return (yield from _managed(run, node, 0, scope))


def _managed(run: Interpreter, node: cst.With, index: int, scope: Scope) -> Block:
    if index == len(node.items):
        return (yield from run.block(node.body, scope))
    item = node.items[index]
    manager = run.evaluate(item.item, scope)
    run.at(item.item)
    if isinstance(manager, Opaque):
        raise manager.refuse()
    with manager as value:
        if item.asname is not None:
            assign(run, item.asname.name, value, scope)
        return (yield from _managed(run, node, index + 1, scope))
    return None


@runs(cst.Try)
def attempt(run: Interpreter, node: cst.Try, scope: Scope) -> Block:
    """`try`: what is unresolved is never caught by the source."""
    try:
        try:
            signal = yield from run.block(node.body, scope)
        except (Unresolved, GeneratorExit):
            raise
        except BaseException as error:
            handler = _handler(run, node, error, scope)
            if handler is None:
                raise
            run.handled.append(error)
            try:
                signal = yield from run.block(handler.body, scope)
            finally:
                run.handled.pop()
        else:
            if signal is None and node.orelse is not None:
                signal = yield from run.block(node.orelse.body, scope)
    finally:
        if node.finalbody is not None:
            final = yield from run.block(node.finalbody.body, scope)
            if final is not None:
                return final  # noqa: B012  as in Python, a return in `finally` wins
    return signal


def _handler(run: Interpreter, node: cst.Try, error: BaseException, scope: Scope) -> cst.ExceptHandler | None:
    for handler in node.handlers:
        if handler.type is not None:
            kinds = run.evaluate(handler.type, scope)
            kinds = kinds if isinstance(kinds, tuple) else (kinds,)
            known = tuple(kind for kind in kinds if isinstance(kind, type))
            if not isinstance(error, known):
                continue
        if handler.name is not None:
            assign(run, handler.name.name, error, scope)
        return handler
    return None
