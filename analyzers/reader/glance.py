"""A class name in, out what decides whether it is known and can be run, without positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from forwardbook.analyzers.reader.outline import Outlines
from forwardbook.analyzers.reader.reader import find_class, find_method, hash_of, order_of, reached
from forwardbook.analyzers.reader.resolve import Definition, linearize


@dataclass(frozen=True, slots=True)
class Glance:
    """The part of a class's Facts that needs no places in files, equal to theirs."""

    resolution_order: tuple[str, ...]
    body: tuple[str, ...] | None
    """The statements of forward() as text, docstrings and bare calls left out; None without a forward()."""
    source_hash: str


def glance_at(name: str, file: Path | None = None, sources: Outlines | None = None) -> Glance:
    """What a look at the statements that a class needs says of it; other statements are not parsed."""
    sources = sources or Outlines()
    found = find_class(name, file, sources)
    assert isinstance(found.node, cst.ClassDef)
    order = linearize(sources, found.source, found.node)
    mro = [item for item in order if isinstance(item, Definition)]
    forward = find_method(mro, "forward")
    helpers = reached(sources, mro, forward) if forward is not None else []
    body = tuple(_statements(forward)) if forward is not None else None
    return Glance(order_of(order), body, hash_of(found.node, forward, helpers))


def _statements(function: Definition) -> Iterator[str]:
    assert isinstance(function.node, cst.FunctionDef)
    for line in function.node.body.body:
        small = line.body if isinstance(line, cst.SimpleStatementLine) else [line]
        yield from (function.source.code(one) for one in small if not isinstance(one, cst.Expr))
