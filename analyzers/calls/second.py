"""A type checker's answers for the places of names in, edges out, to stand beside or instead of our own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from forwardbook.analyzers.calls.resolver import Resolver
from forwardbook.analyzers.calls.values import FunctionValue, InstanceValue, Place
from forwardbook.analyzers.index.callee import callee
from forwardbook.analyzers.index.facts import Definition, Edge
from forwardbook.analyzers.index.source_text import decoded

Chosen = Literal["own", "ty", "both"]
Position = tuple[int, int]  # line from 1, byte of the line from 0


class Target(NamedTuple):
    """Where an answer leads: to a file of the repository, or `outside` to the dotted name defined there."""

    path: str
    line: int
    outside: str = ""


Ask = Callable[[str, bytes, Sequence[Position]], list[tuple[Target, ...]]]


@dataclass(frozen=True, slots=True)
class _Question:
    """One name of a call or a read: where it stands, and the text that leads up to it."""

    position: Position
    line: int
    text: str
    is_call: bool


class Second:
    """The edges that another resolver's answers make."""

    def __init__(self, resolver: Resolver, read: Callable[[str], bytes | None], ask: Ask, name: str) -> None:
        self._resolver = resolver
        self._read = read
        self._ask = ask
        self._name = name
        self._answers: dict[str, list[tuple[_Question, tuple[Target, ...]]]] = {}

    def edges(self, place: Place) -> Iterator[Edge]:
        """The edges of a definition by the answers to its names."""
        file = self._resolver.file(place.path)
        for question, targets in self._of_file(place.path):
            if file.scope_at(question.line) == place.qualname:
                for target in targets:
                    edge = self._edge(place, question, target)
                    if edge is not None:
                        yield edge if len(targets) == 1 else replace(edge, how="possible")

    def _of_file(self, path: str) -> list[tuple[_Question, tuple[Target, ...]]]:
        known = self._answers.get(path)
        if known is None:
            data = self._read(path) or b""
            questions = _questions(data)
            answers = self._ask(path, data, [question.position for question in questions])
            known = self._answers[path] = list(zip(questions, answers, strict=True))
        return known

    def _edge(self, place: Place, question: _Question, target: Target) -> Edge | None:
        made = Edge(place.path, place.qualname, question.line, "exact", "", "", f"found by {self._name}")
        if target.outside:
            if not question.is_call:
                return None
            last = target.outside.rpartition(".")[2]
            constructs = target.outside if last[:1].isupper() else ""
            return replace(made, how="external", callee=target.outside, constructs=constructs)
        definition = self._at(target)
        if definition is None or (not question.is_call and definition.kind != "property"):
            return None
        found = Place(target.path, definition.qualname)
        if definition.kind == "class":
            held = self._resolver.found_member(InstanceValue(found), "__init__").alternatives
            body = held[0].place if held and isinstance(held[0], FunctionValue) else found
            return replace(made, callee_path=body.path, callee=body.qualname, constructs=definition.qualname)
        form: Literal["call", "read"] = "call" if definition.kind != "property" else "read"
        return replace(made, callee_path=found.path, callee=found.qualname, form=form)

    def _at(self, target: Target) -> Definition | None:
        if target.path not in self._resolver.modules.files:
            return None
        for definition in self._resolver.file(target.path).facts.definitions:
            if definition.span.start == target.line:
                return definition
        return None


def _questions(data: bytes) -> list[_Question]:
    """The names of a file that are called or read, by where they stand."""
    try:
        tree = ast.parse(decoded(data).text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found: list[_Question] = []
    for node in ast.walk(tree):
        is_call = id(node) in called
        if isinstance(node, ast.Attribute) and node.end_lineno and node.end_col_offset is not None:
            column = node.end_col_offset - len(node.attr.encode())
            found.append(_Question((node.end_lineno, column), node.lineno, callee(node), is_call))
        elif isinstance(node, ast.Name) and is_call and node.id != "super":
            found.append(_Question((node.lineno, node.col_offset), node.lineno, node.id, is_call))
    return sorted(found, key=lambda question: question.position)


def merged(own: Sequence[Edge], other: Sequence[Edge]) -> Iterator[Edge]:
    """Our edges, with what the other resolver knows where ours end, and what only it finds."""
    settled: set[tuple[int, str]] = {(edge.line, _last(edge)) for edge in other}
    known = {(edge.line, edge.callee_path, edge.callee) for edge in own if edge.how != "possible"}
    for edge in own:
        if edge.how != "unresolved" or (edge.line, _last(edge)) not in settled:
            yield edge
    external = {(edge.line, _last(edge)) for edge in own if edge.how == "external"}
    for edge in other:
        if (edge.line, edge.callee_path, edge.callee) in known:
            continue
        if edge.how == "external" and (edge.line, _last(edge)) in external:
            continue
        yield edge


def _last(edge: Edge) -> str:
    name = edge.constructs or edge.callee
    return name.removesuffix("()").rpartition(".")[2]
