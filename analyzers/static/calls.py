"""Call expressions in, results out: source is interpreted, trusted code called, the rest refused."""

from __future__ import annotations

import builtins
from collections.abc import Sized
from typing import Any

import libcst as cst

from forwardbook.analyzers.static.functions import Function
from forwardbook.analyzers.static.interpreter import Interpreter, evaluates
from forwardbook.analyzers.static.numbers import SYMBOLIC_CALLS
from forwardbook.analyzers.static.opaque import NoOp, Opaque, is_a
from forwardbook.analyzers.static.scope import Scope
from forwardbook.analyzers.static.trusted import callable_allowed
from forwardbook.analyzers.static.unresolved import Unresolved

_SYMBOLIC = {id(callee): replacement for callee, replacement in SYMBOLIC_CALLS.items()}
_BULK = frozenset({id(item) for item in (list, tuple, set, frozenset, sum, sorted, max, min, any, all, dict)})
_MOST_ITEMS = 5_000_000


@evaluates(cst.Call)
def call(run: Interpreter, node: cst.Call, scope: Scope) -> Any:
    """`f(a, *b, c=d, **e)`."""
    callee = run.evaluate(node.func, scope)
    if is_a(callee, NoOp):
        return callee
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for item in node.args:
        value = run.evaluate(item.value, scope)
        if item.star == "*":
            args.extend(run.iterate(value))
        elif item.star == "**":
            if is_a(value, Opaque):
                raise value.refuse()
            kwargs.update(value)
        elif item.keyword is not None:
            kwargs[item.keyword.value] = value
        else:
            args.append(value)
    run.at(node)
    run.step()
    if callee is super and not args:
        return _super(scope)
    return call_value(run, callee, tuple(args), kwargs)


def call_value(run: Interpreter, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a value, if it may be called."""
    if is_a(callee, Function):
        return run.call_function(callee, args, kwargs)
    if is_a(callee, Opaque):
        raise callee.refuse()
    if is_a(callee, NoOp):
        return callee
    replacement = _SYMBOLIC.get(id(callee))
    if replacement is not None:
        return replacement(*args, **kwargs)
    if callee is type and len(args) != 1:
        raise Unresolved("a class made by type(name, bases, names) is not interpreted")
    if not callable(callee):
        raise TypeError(f"{type(callee).__name__!r} object is not callable")
    if not callable_allowed(callee):
        home = getattr(callee, "__module__", "") or type(callee).__module__
        name = getattr(callee, "__qualname__", type(callee).__qualname__)
        raise Unresolved(f"{home}.{name} is not a trusted function", operation=f"{home}.{name}")
    if id(callee) in _BULK and args:
        args = (_counted(run, args[0]), *args[1:])
    return callee(*args, **kwargs)


def _counted(run: Interpreter, value: Any) -> Any:
    """What a builtin will go through at once: of a known length, or counted item by item."""
    if is_a(value, Opaque):
        raise value.refuse()
    if isinstance(value, range) and len(value) > _MOST_ITEMS:
        raise Unresolved(f"a range of {len(value)} items")
    if isinstance(value, Sized) or not hasattr(value, "__next__"):
        return value
    return builtins.list(run.iterate(value))


def _super(scope: Scope) -> Any:
    """`super()` of the method around."""
    found = scope.owner()
    if found is None:
        raise RuntimeError("super(): no arguments")
    function, inner = found
    positional = function.parameters.positional
    first = inner.names[positional[0]] if positional else inner.names[function.parameters.star or ""][0]
    assert function.owner is not None
    return super(function.owner, first)
