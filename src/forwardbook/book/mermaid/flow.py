"""The flow of a function and the call edges out of it in, the messages of a sequence diagram out.

A message is drawn only where an edge exists; calls of built-ins and calls that nothing resolves are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from forwardbook.analyzers.detail.steps import (
    Arm,
    BranchStep,
    CallStep,
    LoopStep,
    ParallelStep,
    Step,
    TryStep,
    WithStep,
)
from forwardbook.analyzers.index.facts import Edge, FileFacts
from forwardbook.book.mermaid.labels import call_text
from forwardbook.book.mermaid.sequence import Body, Frame, Item, Message, Part, messages

_COMMENT = re.compile(r":\s*#.*$")
BUILT_IN = ("builtins.", "typing.", "_typeshed.")
_RUNTIME = re.compile(r"(?:cuda|cu[A-Z]|cublas|cudnn|cufft|cusparse|nccl|hip)")
_DEVICE = "CUDA"
_NATIVE = frozenset({"c", "cpp", "cuda"})
DRAWN = frozenset({"exact", "registry", "external"})


@dataclass(frozen=True)
class Flows:
    """The flows of one file: `steps` are the flow trees by qualname (empty: the module's own level)."""

    facts: FileFacts
    steps: Mapping[str, tuple[Step, ...]]
    edges: Callable[[str], tuple[Edge, ...]]
    is_class: Callable[[str, str], bool]
    is_actor: Callable[[str, str], bool]
    _items: dict[str, tuple[Item, ...]] = field(default_factory=dict)

    def items(self, qualname: str) -> tuple[Item, ...]:
        """What the function sends by itself, nothing that it calls opened."""
        if qualname not in self._items:
            native = self.facts.language in _NATIVE
            drawn = tuple(each for each in self.edges(qualname) if _is_drawn(each, native))
            items = tuple(self._walk(self.steps.get(qualname, ()), qualname, _Edges(drawn)))
            self._items[qualname] = _without_repeats(items)
        return self._items[qualname]

    def participant(self, path: str, qualname: str) -> str:
        """Who acts: the class around a definition or the kernel that it is, else its file."""
        parts = qualname.split(".")
        for count in range(len(parts), 0, -1):
            if self.is_actor(path, ".".join(parts[:count])):
                return ".".join(parts[:count])
        return path

    def _walk(self, steps: tuple[Step, ...], caller: str, edges: _Edges) -> Iterator[Item]:
        for step in steps:
            if isinstance(step, CallStep):
                edge = edges.take(step)
                if edge is not None:
                    yield self._message(caller, step, edge)
            elif isinstance(step, LoopStep):
                yield from _frame(
                    Part(_COMMENT.sub("", step.header), tuple(self._walk(step.body, caller, edges)))
                )
            elif isinstance(step, BranchStep):
                yield from _branch(self._parts(step.arms, caller, edges))
            elif isinstance(step, ParallelStep):
                parts = self._parts(step.arms, caller, edges)
                full = tuple(each for each in parts if each.items)
                if full:
                    yield Frame("par", full)
            elif isinstance(step, TryStep):
                yield from self._walk(step.body, caller, edges)
                for part in self._parts(step.handlers, caller, edges):
                    if part.items:
                        yield Frame("opt", (Part(f"except {part.text}".rstrip(), part.items),))
                yield from self._walk(step.otherwise, caller, edges)
                yield from self._walk(step.finally_, caller, edges)
            elif isinstance(step, WithStep):
                yield from self._walk((*step.setup, *step.body), caller, edges)

    def _parts(self, arms: tuple[Arm, ...], caller: str, edges: _Edges) -> tuple[Part, ...]:
        return tuple(Part(arm.condition, tuple(self._walk(arm.body, caller, edges))) for arm in arms)

    def _message(self, caller: str, step: CallStep, edge: Edge) -> Message:
        source = self.participant(self.facts.path, caller)
        if edge.how == "external":
            package, _, rest = edge.callee.partition(".")
            package = package if rest else _DEVICE if _RUNTIME.match(package) else package
            rest = rest or edge.callee
            return Message(source, package, call_text(rest, step.arguments), step.line, "", True)
        target = self.participant(edge.callee_path, edge.callee)
        name, opens = edge.callee.rpartition(".")[2], edge.callee
        if self.is_class(edge.callee_path, edge.callee):
            opens = f"{edge.callee}.__init__"
        elif edge.constructs and name in ("__init__", "__new__"):
            target, name = edge.constructs, edge.constructs.rpartition(".")[2]
        opens = opens if edge.callee_path == self.facts.path else ""
        return Message(source, target, call_text(name, step.arguments), step.line, opens)


def opened(flows: Flows, qualname: str, most: int) -> tuple[tuple[Item, ...], frozenset[str]]:
    """The flow of a function with the functions of the same file that it calls opened in place, while it all
    stays within `most` messages; and which those are."""
    items, seen = flows.items(qualname), {qualname}
    total = sum(1 for _ in messages(items))
    for _ in range(3):
        items, total, grown = _open_once(flows, items, seen, total, most)
        if not grown:
            break
    return items, frozenset(seen)


def split(items: tuple[Item, ...], most: int) -> list[tuple[Item, ...]]:
    """The items in pieces of at most `most` messages each; a frame that is too long comes in several."""
    pieces: list[tuple[Item, ...]] = []
    piece: list[Item] = []
    room = most
    for item in _small(items, most):
        size = sum(1 for _ in messages((item,)))
        if size > room and piece:
            pieces.append(tuple(piece))
            piece, room = [], most
        piece.append(item)
        room -= size
    return [*pieces, tuple(piece)] if piece else pieces


def _small(items: tuple[Item, ...], most: int) -> Iterator[Item]:
    for item in items:
        if isinstance(item, Message) or sum(1 for _ in messages((item,))) <= most:
            yield item
        elif isinstance(item, Body):
            yield from (Body(item.actor, inner) for inner in split(item.items, most))
        else:
            for part in item.parts:
                kind: Literal["loop", "opt"] = "loop" if item.kind == "loop" else "opt"
                for number, inner in enumerate(split(part.items, most)):
                    yield Frame(kind, (Part(part.text + (" (continued)" if number else ""), inner),))


def _open_once(
    flows: Flows, items: tuple[Item, ...], seen: set[str], total: int, most: int
) -> tuple[tuple[Item, ...], int, bool]:
    found: list[Item] = []
    grown = False
    for item in items:
        if isinstance(item, Frame):
            parts = []
            for part in item.parts:
                inner, total, more = _open_once(flows, part.items, seen, total, most)
                parts.append(Part(part.text, inner))
                grown = grown or more
            found.append(Frame(item.kind, tuple(parts)))
            continue
        if isinstance(item, Body):
            inner, total, more = _open_once(flows, item.items, seen, total, most)
            found.append(Body(item.actor, inner))
            grown = grown or more
            continue
        found.append(item)
        inside = flows.items(item.opens) if item.opens and item.opens not in seen else ()
        size = sum(1 for _ in messages(inside))
        if inside and total + size <= most:
            seen.add(item.opens)
            found.append(Body(item.target, inside))
            total, grown = total + size, True
    return tuple(found), total, grown


def _without_repeats(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Of calls of one outside function that follow each other, the first."""
    found: list[Item] = []
    for item in items:
        if isinstance(item, Frame):
            parts = tuple(Part(each.text, _without_repeats(each.items)) for each in item.parts)
            found.append(Frame(item.kind, parts))
        elif isinstance(item, Body):
            found.append(Body(item.actor, _without_repeats(item.items)))
        elif not (found and isinstance(found[-1], Message) and _repeats(found[-1], item)):
            found.append(item)
    return tuple(found)


def _repeats(first: Message, second: Message) -> bool:
    same = (first.source, first.target) == (second.source, second.target)
    return same and second.is_outside and first.text.partition("(")[0] == second.text.partition("(")[0]


def _frame(part: Part) -> Iterator[Item]:
    if part.items:
        yield Frame("loop", (part,))


def _branch(parts: tuple[Part, ...]) -> Iterator[Item]:
    full = [each for each in parts if each.items]
    if len(full) == 1:
        text = full[0].text
        if text == "else":
            text = "else, not " + " nor ".join(each.text for each in parts if each.text != "else")
        yield Frame("opt", (Part(text, full[0].items),))
    elif full:
        yield Frame("alt", tuple(full))


def _is_drawn(edge: Edge, native: bool) -> bool:
    """Whether a call becomes a message; in native code not where it is an outside macro or plain function."""
    if native and edge.how == "external" and "." not in edge.callee and not _RUNTIME.match(edge.callee):
        return False
    is_call = edge.form in ("call", "launch", "binding")
    return edge.how in DRAWN and is_call and not edge.callee.startswith(BUILT_IN)


class _Edges:
    """The edges out of one definition, each given out once, to the call that stands on its line."""

    def __init__(self, edges: tuple[Edge, ...]) -> None:
        self._by_line: dict[int, list[Edge]] = {}
        for each in edges:
            self._by_line.setdefault(each.line, []).append(each)

    def take(self, step: CallStep) -> Edge | None:
        """The edge of this call: the same line and the same last name."""
        waiting = self._by_line.get(step.line, [])
        name = step.target.removesuffix("()").rpartition(".")[2]
        for edge in waiting:
            if name in (edge.callee.rpartition(".")[2], edge.constructs.rpartition(".")[2]):
                waiting.remove(edge)
                return edge
        return None
