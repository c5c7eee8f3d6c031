"""Frames of running code in, the places of the source that they evaluate out."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from dis import opname
from pathlib import Path
from types import CodeType, FrameType
from typing import Final, TypeVar

import torch

from forwardbook.analyzers.symbolic.trace import Place

Call = TypeVar("Call")

# Where these are, and not what they are called: an environment or a project may live in a folder named torch.
_TORCH: Final = f"{Path(torch.__file__).parent.as_posix()}/"
_MODULE: Final = f"{_TORCH}nn/modules/module.py"
_SEEN_TORCH: Final = tuple(
    _TORCH + part for part in ("nn/modules/", "nn/functional.py", "nn/utils/", "nn/parallel/")
)
_PLUMBING: Final = (
    _TORCH,
    f"{Path(__file__).parents[2].as_posix()}/",  # forwardbook, whose counters run modules
    *(one.__code__.co_filename.replace("\\", "/") for one in (contextlib.contextmanager, functools.wraps)),
)
_KNOWN: dict[tuple[int, int], tuple[CodeType, Place]] = {}
"""Places by code and instruction; the code is held, so that no other gets its identity. Its hash is dear."""
_VARIADIC = 0x04 | 0x08  # CO_VARARGS, CO_VARKEYWORDS: the signature of a wrapper that passes everything on


@functools.lru_cache(maxsize=4096)
def _positions(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    return tuple(code.co_positions())


@functools.lru_cache(maxsize=4096)
def is_plumbing(file: str) -> bool:
    """Whether a file's frames carry calls and compute nothing themselves."""
    file = file.replace("\\", "/")
    if is_torch(file):
        return False
    return file.startswith("<") or file.startswith(_PLUMBING)


@functools.lru_cache(maxsize=4096)
def is_torch(file: str) -> bool:
    """Whether a file is of torch's own layers and functions, not of what carries a call to them."""
    file = file.replace("\\", "/")
    return file.startswith(_SEEN_TORCH) and file != _MODULE


def place_of(frame: FrameType) -> Place:
    """The expression that a frame evaluates; where a branch asks what is true, what it asks."""
    code, at = frame.f_code, frame.f_lasti
    known = _KNOWN.get((id(code), at))
    if known is not None:
        return known[1]
    branches = opname[code.co_code[at]].startswith("POP_JUMP")  # which stands for the whole statement
    line, end_line, col, end_col = _positions(code)[at // 2 - branches]
    line = line or frame.f_lineno
    place = Place(code.co_filename, code.co_qualname, line, end_line or line, col or 0, end_col or 0)
    _KNOWN[id(code), at] = (code, place)
    return place


def within_call(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames from one out to the innermost module call."""
    while frame is not None and frame.f_code is not _CALL:
        yield frame
        frame = frame.f_back


def segment(frame: FrameType | None) -> tuple[Place, ...]:
    """The places of the frames up to the innermost module call, outermost first, without plumbing."""
    places: list[Place] = []
    wrappers: list[Place] = []
    for one in within_call(frame):
        code = one.f_code
        if not is_plumbing(code.co_filename):
            passes_on = code.co_flags & _VARIADIC == _VARIADIC
            wraps = passes_on and (code.co_name != "forward" or code.co_argcount <= 1)
            (wrappers if wraps else places).append(place_of(one))
    return tuple(reversed(places or wrappers))


def announced(
    original: Callable[..., object],
    enter: Callable[[torch.nn.Module, tuple[object, ...], dict[str, object], FrameType], Call],
    leave: Callable[[Call, object, bool], None],
) -> Callable[..., object]:
    """`Module.__call__` that tells when a call begins and ends; its frame bounds what `within_call` gives."""

    def announced_call(self: torch.nn.Module, *args: object, **kwargs: object) -> object:
        call = enter(self, args, kwargs, sys._getframe(1))
        out: object = None
        failed = True
        try:
            out = original(self, *args, **kwargs)
            failed = False
            return out
        finally:
            leave(call, out, failed)

    global _CALL
    _CALL = announced_call.__code__
    return announced_call


_CALL: CodeType | None = None
