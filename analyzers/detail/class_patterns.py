"""A class's scope in, the design patterns that it follows by itself out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forwardbook.analyzers.detail.classes import is_abstract_method
from forwardbook.analyzers.detail.facts import Line, Pattern
from forwardbook.analyzers.detail.names import dotted, last
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope
from forwardbook.analyzers.detail.syntax import Function

Methods = dict[str, Function]
_VISITORS = ("NodeVisitor", "NodeTransformer", "CSTVisitor", "CSTTransformer", "Interpreter", "Visitor")


def _methods(scope: Scope) -> Methods:
    assert isinstance(scope.node, ast.ClassDef)
    return {each.name: each for each in scope.node.body if isinstance(each, Function)}


def line(file: OpenFile, node: ast.stmt | ast.expr) -> Line:
    """A node's line with the beginning of its text."""
    return Line(node.lineno, file.syntax.first_line(node) if isinstance(node, ast.stmt) else file.text(node))


def context_manager(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """A class with `__enter__` and `__exit__`."""
    methods = _methods(scope)
    for start, end in (("__enter__", "__exit__"), ("__aenter__", "__aexit__")):
        if start in methods and end in methods:
            evidence = (line(file, methods[start]), line(file, methods[end]))
            yield Pattern("context manager", scope.qualname, f"defines `{start}` and `{end}`", evidence)


def visitor(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """A class with a method for each kind of node, named after it, or a library's visitor as its base."""
    assert isinstance(scope.node, ast.ClassDef)
    handlers = [node for name, node in _methods(scope).items() if name.startswith(("visit_", "leave_"))]
    base = next((each for each in scope.node.bases if last(each) in _VISITORS), None)
    if handlers and (len(handlers) > 1 or base is not None):
        why = f"{len(handlers)} methods named after the kind of node they are called for"
        yield Pattern("visitor", scope.qualname, why, tuple(line(file, each) for each in handlers[:6]))


def singleton(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """`__new__` (or a metaclass's `__call__`) that keeps the object on the class and gives it again."""
    methods = _methods(scope)
    for name in ("__new__", "__call__", "instance", "get_instance", "getInstance"):
        node = methods.get(name)
        if node is None or not node.args.args:
            continue
        owner = node.args.args[0].arg
        kept = [
            each
            for each in ast.walk(node)
            if isinstance(each, ast.Assign) and _is_kept(each.targets[0], owner, scope)
        ]
        if kept and any("instance" in dotted_part(each.targets[0]).lower() for each in kept):
            why = f"`{name}` keeps the one object and gives it again"
            yield Pattern("singleton", scope.qualname, why, (line(file, node), line(file, kept[0])))
            return


def _is_kept(target: ast.expr, owner: str, scope: Scope) -> bool:
    root = dotted_part(target).partition(".")[0]
    return isinstance(target, ast.Attribute | ast.Subscript) and root in (owner, scope.qualname)


def dotted_part(node: ast.expr) -> str:
    """The names of a target up to its first item."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return dotted(node)


def iterator(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """A class that is iterated over by its own methods."""
    methods = _methods(scope)
    names = [name for name in ("__iter__", "__next__", "__aiter__", "__anext__") if name in methods]
    if names:
        why = "defines " + " and ".join(f"`{name}`" for name in names)
        yield Pattern("iterator", scope.qualname, why, tuple(line(file, methods[name]) for name in names))


def observer(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """A list of callables that a method adds to and another calls one by one."""
    added: dict[str, ast.Call] = {}
    for inner in _inner(file, scope):
        for call in inner.calls:
            func = call.func
            if isinstance(func, ast.Attribute) and func.attr in ("append", "add", "insert") and call.args:
                owner, given = dotted(func.value), call.args[-1]
                is_given = isinstance(given, ast.Name) and given.id in inner.parameters
                if owner.startswith(f"{inner.this}.") and is_given:
                    added.setdefault(owner.partition(".")[2], call)
    for inner in _inner(file, scope):
        for loop in inner.each(ast.For):
            if not isinstance(loop.target, ast.Name):
                continue
            name = dotted(_iterated(loop.iter)).partition(".")[2]
            called = _called_in(loop, loop.target.id)
            if name in added and called is not None:
                evidence = (line(file, added[name]), line(file, loop), line(file, called))
                why = f"what is added to `{name}` is called, one after another"
                yield Pattern("observer", scope.qualname, why, evidence)
                return


def _iterated(node: ast.expr) -> ast.expr:
    """What is iterated over, behind `list(...)`, `.values()` and the like."""
    while isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif node.args:
            node = node.args[0]
        else:
            break
    return node


def _called_in(loop: ast.For, name: str) -> ast.Call | None:
    """The call of the loop's own variable (or of a method of it whose name tells of an event)."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == name:
                return node
            is_its = isinstance(node.func, ast.Attribute) and dotted(node.func.value) == name
            if is_its and last(node.func).startswith(("on_", "update", "notify", "handle")):
                return node
    return None


def mixin(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """A class named as one that others take in as a further base."""
    assert isinstance(scope.node, ast.ClassDef)
    if scope.node.name.endswith("Mixin"):
        why = "named as a class that others take in beside their own base"
        yield Pattern("mixin", scope.qualname, why, (line(file, scope.node),))
    taken = [base for base in scope.node.bases if last(base).endswith("Mixin")]
    if taken and len(scope.node.bases) > 1:
        names = ", ".join(f"`{file.text(base)}`" for base in taken)
        yield Pattern("mixin", scope.qualname, f"takes in {names}", (line(file, scope.node),))


def template_method(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """A method that calls steps on its object which subclasses must define."""
    methods = _methods(scope)
    steps = {name for name, node in methods.items() if _is_left_open(file, node)}
    for inner in _inner(file, scope):
        node = inner.function
        if node is None or node.name in steps or not inner.this:
            continue
        used = [
            call
            for call in inner.calls
            if isinstance(call.func, ast.Attribute)
            and call.func.attr in steps
            and dotted(call.func.value) == inner.this
        ]
        if used:
            names = dict.fromkeys(last(call.func) for call in used)
            why = "calls " + ", ".join(f"`{name}`" for name in names) + ", which subclasses define"
            evidence = [line(file, call) for call in used[:4]]
            evidence += [line(file, methods[name]) for name in names]
            yield Pattern("template method", inner.qualname, why, tuple(evidence))


def _is_left_open(file: OpenFile, node: Function) -> bool:
    body = [
        each
        for each in node.body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
    if is_abstract_method(file, node):
        return True
    if len(body) != 1 or not isinstance(body[0], ast.Raise) or body[0].exc is None:
        return False
    raised = body[0].exc
    return dotted(raised.func if isinstance(raised, ast.Call) else raised) == "NotImplementedError"


def fluent(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """Methods that give their object back, to be chained."""
    found = []
    for inner in _inner(file, scope):
        node = inner.function
        if node is None or (node.name.startswith("__") and node.name.endswith("__")) or not inner.this:
            continue
        ends = inner.each(ast.Return)
        marks = {last(mark) for mark in node.decorator_list}
        if ends and "classmethod" not in marks and all(_is_name(end.value, inner.this) for end in ends):
            found.append(ends[0])
    if len(found) > 2:
        why = f"{len(found)} methods give the object back, so that calls chain"
        yield Pattern("fluent interface", scope.qualname, why, tuple(line(file, each) for each in found[:6]))


def delegation(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """`__getattr__` that asks another object."""
    for inner in _inner(file, scope):
        node = inner.function
        if node is None or node.name != "__getattr__":
            continue
        for call in inner.calls:
            is_get = isinstance(call.func, ast.Name) and call.func.id == "getattr" and call.args
            if is_get and dotted(call.args[0]).startswith(f"{inner.this}."):
                why = f"attributes that it lacks are those of `{dotted(call.args[0])}`"
                yield Pattern("proxy", scope.qualname, why, (line(file, node), line(file, call)))
                return


def _is_name(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _inner(file: OpenFile, scope: Scope) -> list[Scope]:
    """The methods of a class as scopes."""
    return [each for each in file.functions if each.around is scope]
