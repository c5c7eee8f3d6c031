"""A class in, the places out where what its forward() runs switches automatic casting on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import libcst as cst
from libcst.helpers import get_full_name_for_node

from forwardbook.analyzers.reader.functions import parameter_names
from forwardbook.analyzers.reader.outline import Outlines
from forwardbook.analyzers.reader.reader import find_class, find_method, reached
from forwardbook.analyzers.reader.resolve import Definition, linearize
from forwardbook.analyzers.reader.sources import ReaderError, Sources, descend, relative_file

_NAMES = ("autocast", "maybe_autocast")


@dataclass(frozen=True, slots=True)
class Autocast:
    """One `torch.autocast(...)` that is not switched off."""

    file: str
    line: int
    code: str


@lru_cache(maxsize=1024)
def autocasts(name: str, file: Path | None = None, roots: tuple[Path, ...] = ()) -> tuple[Autocast, ...]:
    """Those of forward() and of the functions that it reaches, submodules apart; none where no source is."""
    try:
        found = [(one, call) for one in _run(name, file, Outlines(roots)) for call in _switched_on(one)]
    except ReaderError:
        return ()
    return tuple(
        Autocast(relative_file(one.source), one.source.span(call).line, one.source.code(call))
        for one, call in found
    )


def _run(name: str, file: Path | None, sources: Sources) -> Sequence[Definition]:
    found = find_class(name, file, sources)
    assert isinstance(found.node, cst.ClassDef)
    mro = [one for one in linearize(sources, found.source, found.node) if isinstance(one, Definition)]
    forward = find_method(mro, "forward")
    return [] if forward is None else [forward, *reached(sources, mro, forward)]


@lru_cache(maxsize=4096)
def _switched_on(function: Definition) -> tuple[cst.Call, ...]:
    return tuple(_casts(function))


def _casts(function: Definition) -> Iterator[cst.Call]:
    assert isinstance(function.node, cst.FunctionDef)
    own = set(parameter_names(function.node))
    for node in descend(function.node):
        if isinstance(node, cst.Call) and (get_full_name_for_node(node.func) or "").split(".")[-1] in _NAMES:
            given = {arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None}
            enabled = given.get("enabled")
            # what a function passes on is for its caller to say: maybe_autocast(enabled=False) is off
            handed = isinstance(enabled, cst.Name) and enabled.value in own
            if not handed and not any(_is_false(arg.value) for arg in node.args if _may_enable(arg)):
                yield node


def _may_enable(argument: cst.Arg) -> bool:
    return argument.keyword is None or argument.keyword.value == "enabled"


def _is_false(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Name) and value.value == "False"
