"""`zip` in analysed code: it ends with the shortest of what it is given, and that is written down.

A list of layers is as long as a count that `range()` needed as a number: its length is a number by then. What
size it is tells a second run in which each such count is larger by a number of its own.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from typing import Final, cast

import torch

from forwardbook.analyzers.symbolic.ledger import Guard, Ledger
from forwardbook.analyzers.symbolic.node import Node

Length = int | Node
NEAR: Final = 2  # a list of all but the first is one shorter than the count; what is far from it is another


@dataclass(frozen=True, slots=True)
class Paired:
    """One `zip`: where it stands, its lengths as this run had them, and its place among the guards."""

    file: str
    line: int
    lengths: tuple[Length, ...]
    strict: bool
    guard: int


_running: ContextVar[Ledger | None] = ContextVar("running", default=None)
_second: ContextVar[bool] = ContextVar("second", default=False)
"""Whether this is a run with other counts, which tells lengths whatever they are."""


@contextmanager
def pairs_noted(ledger: Ledger) -> Iterator[None]:
    """Inside, what `zip` pairs in analysed code is noted in the ledger."""
    before = _running.set(ledger)
    try:
        yield
    finally:
        _running.reset(before)


@contextmanager
def second_run() -> Iterator[None]:
    """Inside, all is noted that is paired, and nothing is refused for its length."""
    before = _second.set(True)
    try:
        yield
    finally:
        _second.reset(before)


def paired(*items: Iterable[object], strict: bool = False) -> Iterator[tuple[object, ...]]:
    """What `zip` gives; that the shortest of the items is the shortest becomes a condition."""
    ledger = _running.get()
    lengths = [_length(one) for one in items]
    known = tuple(one for one in lengths if one is not None)
    if ledger is not None and ledger.asked is None and (_second.get() or _differ(known)):
        frame = sys._getframe(1)
        true = ledger.constant(value=True, kind=bool)
        one = Paired(frame.f_code.co_filename, frame.f_lineno, known, strict, len(ledger.guards))
        ledger.guards.append(Guard(true, True, () if ledger.running else ledger.constructing(frame)))
        ledger.pairs.append(one)
    return zip(*items, strict=strict and not _second.get())


def _length(item: object) -> Length | None:
    """How long it is; None where that is not known before it ends."""
    if isinstance(item, torch.Tensor):
        size = item.shape[0] if item.dim() else None
        return size.node if isinstance(size, torch.SymInt) else size
    return len(item) if isinstance(item, Sized) else None


def _differ(lengths: Sequence[Length]) -> bool:
    """Whether they are not all of one number, or one node."""
    return len(set(lengths)) > 1


def shifts(ledger: Ledger) -> dict[str, int]:
    """By how much each count is to be larger in a second run; none where all lengths are known without."""
    if not any(isinstance(length, int) for one in ledger.pairs for length in one.lengths):
        return {}
    nodes = [one.node for one in ledger.consumed if not one.real]
    names: dict[str, None] = {}
    while nodes:
        node = nodes.pop()
        names |= {node.name: None} if node.op == "symbol" else {}
        nodes += node.args
    return {name: place + 1 for place, name in enumerate(sorted(names))}


def say(ledger: Ledger, second: Ledger | None, by: Mapping[str, int]) -> None:
    """Puts among the guards of a run which lengths were the shortest, in sizes that a second run tells."""
    others: defaultdict[tuple[str, int], list[Paired]] = defaultdict(list)
    for one in second.pairs if second is not None else ():
        others[one.file, one.line].append(one)
    seen: defaultdict[tuple[str, int], int] = defaultdict(int)
    for one in ledger.pairs:
        place, there = (one.file, one.line), others[one.file, one.line]
        twin = there[min(seen[place], len(there) - 1)] if there else None
        seen[place] += 1
        nodes = _nodes(ledger, one, twin, by)
        before = ledger.guards[one.guard]
        ledger.guards[one.guard] = Guard(_all(ledger, _said(ledger, one, nodes, by)), True, before.owners)


def _nodes(ledger: Ledger, one: Paired, twin: Paired | None, by: Mapping[str, int]) -> list[Node | None]:
    """The lengths in sizes; None for one of which that is not known."""
    found: list[Node | None] = []
    same = twin is not None and len(twin.lengths) == len(one.lengths)
    for place, length in enumerate(one.lengths):
        if isinstance(length, Node):
            found.append(length)
            continue
        later = twin.lengths[place] if same and twin is not None else length
        longer = (int(later.number) if isinstance(later, Node) else later) - length
        names = [n for n, more in by.items() if more == longer and abs(length - ledger.hints[n]) <= NEAR]
        if not by or (same and longer == 0):
            found.append(ledger.constant(length, int))
        elif same and names:
            [name] = names
            more = ledger.constant(length - ledger.hints[name], int)
            found.append(cast("Node", _size(ledger, name).add(more)))
        else:
            found.append(None)
    return found


def _said(ledger: Ledger, one: Paired, nodes: Sequence[Node | None], by: Mapping[str, int]) -> list[Node]:
    """That the shortest is no longer than the others, as long if it must be; else the counts as they were."""
    known = [node for node in nodes if node is not None]
    if len(known) < len(nodes):
        symbols = [_size(ledger, name) for name in by]
        return [cast("Node", size.eq(ledger.constant(ledger.hints[size.name], int))) for size in symbols]
    least = min(known, key=lambda node: node.number)
    others = [node for node in known if node is not least]
    return [cast("Node", least.eq(node) if one.strict else least.le(node)) for node in others]


def _size(ledger: Ledger, name: str) -> Node:
    return cast("Node", ledger.symbol(name, ledger.hints[name]).node)


def _all(ledger: Ledger, nodes: Sequence[Node]) -> Node:
    true = ledger.constant(value=True, kind=bool)
    said = [node for node in nodes if node.op != "constant"]
    return reduce(lambda left, right: ledger.apply("and", (left, right), True, bool), said) if said else true
