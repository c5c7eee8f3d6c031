"""A function's scope in, how it fails out: what it raises and when, what it catches, checks and cleans up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final, Literal

from forwardbook.analyzers.detail.facts import Caught, Check, Cleanup, Outcome, Raise, Span
from forwardbook.analyzers.detail.names import keyword, last
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope

_VALIDATES: Final = re.compile(r"^_*(validate|check|verify|assert|ensure|require)(_|$|[A-Z])")
_EXITS: Final = frozenset({"sys.exit", "os._exit", "exit", "quit"})
_LOGS: Final = frozenset(
    {
        "print",
        "debug",
        "info",
        "warning",
        "warn",
        "error",
        "exception",
        "critical",
        "log",
        "print_exc",
        "write",
    }
)
_Ending = Literal["__exit__", "__aexit__", "__del__"]
_ENDINGS: Final[tuple[_Ending, ...]] = ("__exit__", "__aexit__", "__del__")
_TRIES: Final = tuple({ast.Try, getattr(ast, "TryStar", ast.Try)})
_CLOSES: Final = frozenset(
    {
        "close",
        "shutdown",
        "terminate",
        "unlink",
        "cleanup",
        "destroy_process_group",
        "empty_cache",
        "disconnect",
    }
)


def raises(file: OpenFile, scope: Scope, documented: dict[str, str]) -> tuple[Raise, ...]:
    """What is raised here, with its condition; then what only the docstring names (line 0)."""
    found = [_raise(file, node, documented) for node in scope.each(ast.Raise)]
    said = {each.exception.rpartition(".")[2] for each in found}
    for name, meaning in documented.items():
        if name.rpartition(".")[2] not in said:
            found.append(Raise(0, name, meaning=meaning))
    return tuple(found)


def _raise(file: OpenFile, node: ast.Raise, documented: dict[str, str]) -> Raise:
    condition = file.condition(node)
    if node.exc is None:
        return Raise(node.lineno, "", condition, is_reraise=True)
    called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    name = file.text(called)
    message = ""
    if isinstance(node.exc, ast.Call) and node.exc.args:
        message = file.text(node.exc.args[0])
    handler = _handler_of(file, node)
    again = handler is not None and handler.name is not None and name == handler.name
    meaning = documented.get(name, documented.get(name.rpartition(".")[2], ""))
    return Raise(node.lineno, name, condition, message, meaning, again)


def _handler_of(file: OpenFile, node: ast.AST) -> ast.ExceptHandler | None:
    return next((each for each in file.scopes.above(node) if isinstance(each, ast.ExceptHandler)), None)


def caught(file: OpenFile, scope: Scope) -> tuple[Caught, ...]:
    """The handlers of `try` and the uses of `contextlib.suppress`, in source order."""
    found: list[Caught] = []
    for node in scope.each(*_TRIES, ast.With):
        if isinstance(node, _TRIES):
            body = Span(node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno)
            found += (_caught(file, handler, body) for handler in node.handlers)
        elif isinstance(node, ast.With):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and file.names.full(call.func) == "contextlib.suppress":
                    body = Span(node.body[0].lineno, node.end_lineno or node.lineno)
                    names = tuple(file.text(each) for each in call.args)
                    found.append(Caught(call.lineno, names, body, "ignored", file.text(call)))
    return tuple(sorted(found, key=lambda each: each.line))


def _caught(file: OpenFile, handler: ast.ExceptHandler, guarded: Span) -> Caught:
    kind = handler.type
    exceptions = (
        () if kind is None else tuple(map(file.text, kind.elts if isinstance(kind, ast.Tuple) else [kind]))
    )
    outcome, statement = _outcome(file, handler)
    text = file.syntax.first_line(statement) if statement is not None else ""
    return Caught(handler.lineno, exceptions, guarded, outcome, text)


def _outcome(file: OpenFile, handler: ast.ExceptHandler) -> tuple[Outcome, ast.stmt | None]:
    """What happens after an exception, and the statement that says so."""
    body = [each for each in handler.body if not _is_empty(each)]
    if not body:
        return "ignored", handler.body[0]
    for each in body:
        if isinstance(each, ast.Raise):
            return ("re-raised" if _is_same(each, handler) else "replaced"), each
        if isinstance(each, ast.Return):
            return "returned", each
        if isinstance(each, ast.Continue | ast.Break):
            return "skipped", each
        if _calls(each) and file.names.full(each.value.func) in _EXITS:  # type: ignore[attr-defined]
            return "exits", each
    if all(_calls(each) and last(each.value.func) in _LOGS for each in body):  # type: ignore[attr-defined]
        return "logged", body[0]
    return "fallback", body[0]


def _calls(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _is_empty(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_same(node: ast.Raise, handler: ast.ExceptHandler) -> bool:
    return node.exc is None or (isinstance(node.exc, ast.Name) and node.exc.id == handler.name)


def checks(file: OpenFile, scope: Scope) -> tuple[Check, ...]:
    """The validation done here: assertions, branches that only raise, calls named for it."""
    found: list[Check] = []
    for node in scope.each(ast.Assert, ast.If, ast.Call):
        if isinstance(node, ast.Assert):
            message = file.text(node.msg) if node.msg else "AssertionError"
            found.append(Check(node.lineno, "assert", file.text(node.test), message))
        elif isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            found.append(Check(node.lineno, "raise", file.text(node.test), file.text(node.body[-1])))
        elif isinstance(node, ast.Call) and _VALIDATES.match(last(node.func)):
            found.append(Check(node.lineno, "call", file.text(node)))
    return tuple(found)


def cleanups(file: OpenFile, scope: Scope) -> tuple[Cleanup, ...]:
    """What is done however the code ends, in source order."""
    found = list(_cleanups(file, scope))
    node = scope.function
    for name in _ENDINGS:
        if node is not None and node.name == name:
            found.insert(0, Cleanup(node.lineno, name, f"{scope.qualname}()"))
    return tuple(found)


def _cleanups(file: OpenFile, scope: Scope) -> Iterator[Cleanup]:
    for node in scope.each(*_TRIES, ast.With, ast.AsyncWith, ast.Call):
        if isinstance(node, _TRIES) and node.finalbody:
            statements = "; ".join(file.syntax.first_line(each) for each in node.finalbody[:3])
            yield Cleanup(node.finalbody[0].lineno, "finally", statements)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                yield Cleanup(item.context_expr.lineno, "with", file.text(item.context_expr))
        elif isinstance(node, ast.Call):
            name = file.names.full(node.func)
            if name in ("atexit.register", "signal.signal"):
                if name == "atexit.register":
                    yield Cleanup(node.lineno, "atexit", file.text(node))
            elif name == "weakref.finalize":
                yield Cleanup(node.lineno, "finalizer", file.text(node))
            elif last(node.func) in _CLOSES and keyword(node, "missing_ok") is None:
                yield Cleanup(node.lineno, "close", file.text(node))
