"""A function's scope in, everything its page says of it out; and the same for the module's own level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from forwardbook.analyzers.detail.classes import is_abstract_method
from forwardbook.analyzers.detail.decorators import decorators
from forwardbook.analyzers.detail.device import device
from forwardbook.analyzers.detail.docstrings import understood
from forwardbook.analyzers.detail.effects import effects
from forwardbook.analyzers.detail.environment import environment
from forwardbook.analyzers.detail.facts import FunctionDetail, Span
from forwardbook.analyzers.detail.failures import caught, checks, cleanups, raises
from forwardbook.analyzers.detail.flow import flow
from forwardbook.analyzers.detail.magic import called_by
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.parallel import parallel
from forwardbook.analyzers.detail.scopes import Scope
from forwardbook.analyzers.detail.signatures import kind_of, parameters, returned, signature
from forwardbook.analyzers.detail.timing import timed
from forwardbook.analyzers.index.facts import Definition
from forwardbook.analyzers.index.header import decorated_span, docstring

T = TypeVar("T")


def function_detail(file: OpenFile, scope: Scope, known: Definition | None) -> FunctionDetail:
    """All that one function takes, gives, raises, changes and waits for."""
    node = scope.function
    assert node is not None and scope.around is not None
    text = docstring(node.body)
    said = understood(text)
    decorated = decorated_span(file.syntax.source, node)
    result = returned(file, scope, said)
    return replace(
        conduct(file, [scope]),
        qualname=scope.qualname,
        span=Span(node.lineno, decorated.end),
        decorated=decorated,
        kind=kind_of(node, scope),
        signature=signature(file, node),
        parent=scope.around.qualname,
        is_public=known.is_public if known is not None else not node.name.startswith("_"),
        is_async=type(node).__name__ == "AsyncFunctionDef",
        is_generator=bool(result.yields),
        is_abstract=is_abstract_method(file, node),
        summary=said.summary,
        docstring=text,
        magic=called_by(node.name) if scope.around.is_class else "",
        parameters=parameters(file, scope, said),
        returns=result,
        raises=raises(file, scope, said.raises),
        decorators=decorators(file, node),
        flow=flow(file, node.body),
    )


def module_detail(file: OpenFile, empty: FunctionDetail) -> FunctionDetail:
    """What importing (or running) the file does: the module's own statements and its class bodies."""
    scopes = [file.scopes.module, *file.classes]
    return replace(
        conduct(file, scopes),
        span=empty.span,
        decorated=empty.decorated,
        raises=raises(file, file.scopes.module, {}),
        flow=flow(file, file.syntax.tree.body),
    )


def conduct(file: OpenFile, scopes: list[Scope]) -> FunctionDetail:
    """What running the scopes' own nodes does, as a module's level."""

    def all_of(reader: Callable[[OpenFile, Scope], tuple[T, ...]]) -> tuple[T, ...]:
        return tuple(each for scope in scopes for each in reader(file, scope))

    return FunctionDetail(
        "",
        Span(1, 1),
        Span(1, 1),
        "module",
        caught=all_of(caught),
        checks=all_of(checks),
        cleanups=all_of(cleanups),
        effects=all_of(effects),
        environment=all_of(environment),
        timed=all_of(timed),
        device=all_of(device),
        parallel=all_of(parallel),
    )
