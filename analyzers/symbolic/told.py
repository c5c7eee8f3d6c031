"""Modules in; out the choices that make them what they are: `is_causal=True`, told to a constructor or kept.

What a block costs hangs on what its holder makes of it: one that is told to be causal masks, and its config
says nothing of it. Of layers in a list some attend to all that was before and some to the last tokens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import torch

from forwardbook.analyzers.symbolic.given import CHOICES, LONG, parameters

Told = dict[int, tuple[str, ...]]
"""By the identity of a module what its constructor was told that is not the default."""


@contextmanager
def noted() -> Iterator[Told]:
    """Inside, what constructors are told is written down."""
    told: Told = {}
    original: Callable[..., None] = torch.nn.Module.__init__

    def noting(self: torch.nn.Module, *args: object, **kwargs: object) -> None:
        told[id(self)] = tuple(_choices(self, sys._getframe(1)))
        original(self, *args, **kwargs)

    torch.nn.Module.__init__ = noting  # type: ignore[method-assign]
    try:
        yield told
    finally:
        torch.nn.Module.__init__ = original  # type: ignore[method-assign]


def kept(module: torch.nn.Module) -> dict[str, str]:
    """The choices that a module and those right below it keep, `self_attn.layer_type` and its like."""
    below = [(f"{name}.", one) for name, one in module.named_children()]
    return {name: value for prefix, one in (("", module), *below) for name, value in _kept(one, prefix)}


def _kept(module: torch.nn.Module, prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in vars(module).items():
        if type(value) in CHOICES and name != "training" and not name.startswith("_"):
            full, text = f"{prefix}{name}", str(value)
            if len(text) <= LONG:
                yield full, text


def apart(own: Sequence[torch.nn.Module], others: Iterable[torch.nn.Module]) -> tuple[str, ...]:
    """What all of these modules keep, and some of the others otherwise: `layer_type=full_attention`.

    What modules below keep is told where they themselves keep nothing of the kind.
    """
    mine = [kept(one) for one in own]
    same = {name: value for name, value in mine[0].items() if all(one.get(name) == value for one in mine)}
    theirs = [kept(one) for one in others]
    differ = [name for name in sorted(same) if any(one.get(name, same[name]) != same[name] for one in theirs)]
    themselves = [name for name in differ if "." not in name]
    return tuple(f"{name}={same[name]}" for name in themselves or differ)


def _choices(module: torch.nn.Module, frame: FrameType | None) -> Iterator[str]:
    """What the outermost constructor of a module was told, from the frames of them all."""
    own = constructor_frame(module, frame)
    if own is None:
        return
    values = own.f_locals
    for one in parameters(type(module).__init__):
        value = values.get(one.name)
        if type(value) in CHOICES and value != one.default and len(text := f"{one.name}={value}") <= LONG:
            yield text


def constructor_frame(module: torch.nn.Module, frame: FrameType | None) -> FrameType | None:
    """The frame of the outermost constructor of a module that runs, which is that of its own class."""
    outermost: FrameType | None = None
    while frame is not None and frame.f_code.co_name == "__init__" and _first(frame) is module:
        outermost, frame = frame, frame.f_back
    return outermost


def _first(frame: FrameType) -> object:
    """The first argument of a function that runs."""
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
