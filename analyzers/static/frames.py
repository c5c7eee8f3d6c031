"""Interpreted calls in, the stack of source places and module instances that is running now out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType

import libcst as cst

from forwardbook.analyzers.reader.facts import Span
from forwardbook.analyzers.reader.sources import SourceFile


@dataclass(frozen=True, slots=True)
class Frame:
    """One running function: the expression it is at, and the module instance that it belongs to."""

    file: str
    line: int
    col: int
    end_line: int
    end_col: int
    qualname: str
    instance: object
    interpreted: bool


class Activation:
    """One interpreted call that is running; `node` is what it evaluates now.

    `passes_on` is true of a wrapper that takes any arguments and hands them on.
    """

    __slots__ = ("source", "qualname", "node", "instance", "passes_on")

    def __init__(
        self,
        source: SourceFile,
        qualname: str,
        node: cst.CSTNode,
        instance: object,
        passes_on: bool = False,
    ) -> None:
        self.source = source
        self.qualname = qualname
        self.node = node
        self.instance = instance
        self.passes_on = passes_on

    def span(self) -> Span:
        """Where the call is now."""
        return self.source.span(self.node) if self.node in self.source.positions else Span(0, 0, 0, 0)

    def frame(self) -> Frame:
        """The place as a value."""
        at = self.span()
        return Frame(
            str(self.source.path),
            at.line,
            at.col,
            at.end_line,
            at.end_col,
            self.qualname,
            self.instance,
            True,
        )


STACK: list[Activation] = []
MARKERS: set[CodeType] = set()  # code objects of ours that run exactly one activation each


def marks_activation(code: CodeType) -> None:
    """Register the code that stands for one activation on the real stack."""
    MARKERS.add(code)


@lru_cache(maxsize=1)
def _torch_folder() -> str:
    import torch

    return str(Path(torch.__file__).parent)


_PLUMBING = (
    "_dynamo/", "_compile.py", "_ops.py", "overrides.py", "utils/", "nn/modules/module.py", "fx/",
    "_library/", "_subclasses/", "autograd/", "_functorch/",
)  # fmt: skip


@lru_cache(maxsize=4096)
def _is_torch(file: str) -> bool:
    """True for torch's own layers and functions, not for what carries a call to them."""
    folder = _torch_folder() + "/"
    return file.startswith(folder) and not file.removeprefix(folder).startswith(_PLUMBING)


@lru_cache(maxsize=4096)
def _places(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    return tuple(code.co_positions())


def current_frames() -> tuple[Frame, ...]:
    """The running functions from the outermost in: interpreted ones, and torch's own between them."""
    return tuple(reversed(list(_frames(sys._getframe(1)))))


def _frames(real: FrameType | None) -> Iterator[Frame]:
    index = len(STACK) - 1
    while real is not None and index >= 0:
        if real.f_code in MARKERS:
            yield STACK[index].frame()
            index -= 1
        elif _is_torch(real.f_code.co_filename):
            line, end_line, col, end_col = _places(real.f_code)[real.f_lasti // 2]
            instance = real.f_locals.get("self")
            yield Frame(
                real.f_code.co_filename, line or real.f_lineno, col or 0, end_line or 0, end_col or 0,
                real.f_code.co_qualname, instance, False,
            )  # fmt: skip
        real = real.f_back
