"""Watches a run: for each module how it was constructed, for each call what it was handed."""

from __future__ import annotations

import inspect
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

import torch

from forwardbook.analyzers.derive.handed import Handed, Unlifted
from forwardbook.analyzers.symbolic.told import constructor_frame


@dataclass(frozen=True)
class Boundary:
    """One call of one module: its class, and by parameter what constructor and forward() were handed.

    `dtype` is the one of that run: what is handed in it would be handed in another's as well.
    """

    kind: type[torch.nn.Module]
    constructor: Handed
    forward: Handed
    dtype: torch.dtype = torch.float32


@dataclass
class Watch:
    """What a run showed: constructors by the identity of their module, calls in order."""

    constructors: dict[int, tuple[type[torch.nn.Module], Handed | str]] = field(default_factory=dict)
    alive: list[torch.nn.Module] = field(default_factory=list)
    """All that were constructed, so that no identity comes twice."""
    calls: list[tuple[torch.nn.Module, Handed | str]] = field(default_factory=list)
    dtype: torch.dtype = field(default_factory=torch.get_default_dtype)

    def boundary(self, place: int) -> Boundary | str:
        """The boundary of a call by its number, or why it has none."""
        module, forward = self.calls[place]
        kind, constructor = self.constructors.get(id(module), (type(module), "its constructor was not seen"))
        if isinstance(constructor, str):
            return constructor
        if kind is not type(module):
            return "its class is another than when it was constructed"
        if isinstance(forward, str):
            return forward
        return Boundary(type(module), constructor, forward, self.dtype)

    def built(self, build: Callable[[], torch.nn.Module]) -> torch.nn.Module:
        """What is built, with its constructors noted, and each call from now on."""
        with constructors(self):
            module = build()
        self.follow(module)
        return module

    def follow(self, root: torch.nn.Module) -> None:
        """Notes every call of a module and of those in it from now on."""
        for module in dict.fromkeys(root.modules()):
            module.register_forward_pre_hook(self._call, with_kwargs=True)

    def _call(self, module: torch.nn.Module, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        self.calls.append((module, _handed(lambda: bound(type(module).forward, module, *args, **kwargs))))


def bound(function: Callable[..., object], *args: object, **kwargs: object) -> dict[str, object]:
    """What a method is called with, by parameter, the first one apart."""
    found = inspect.signature(function).bind(*args, **kwargs).arguments
    return dict(list(found.items())[1:])


def unbound(
    function: Callable[..., object], arguments: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The same as a call needs it: by name, which whatever is wrapped around a method understands.

    Where parameters take any number of values, what stands before them is handed over by place.
    """
    _, *parameters = inspect.signature(function).parameters.values()
    one = inspect.BoundArguments(inspect.Signature(parameters), OrderedDict(arguments))
    named = {p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.name in arguments}
    if any(p.kind is p.VAR_POSITIONAL and arguments.get(p.name) for p in parameters):
        return one.args, one.kwargs
    nameless = sum(p.kind is p.POSITIONAL_ONLY and p.name in arguments for p in parameters)
    return one.args[:nameless], {**one.kwargs, **{name: arguments[name] for name in named}}


def _handed(arguments: Callable[[], dict[str, object]]) -> Handed | str:
    try:
        return Handed.of(arguments())
    except (Unlifted, TypeError, ValueError) as error:
        return str(error)


@contextmanager
def constructors(watch: Watch) -> Iterator[None]:
    """Inside, what constructors of modules are handed is noted."""
    original: Callable[..., None] = torch.nn.Module.__init__

    def noting(self: torch.nn.Module, *args: object, **kwargs: object) -> None:
        frame = constructor_frame(self, sys._getframe(1))
        watch.alive.append(self)
        watch.constructors[id(self)] = (type(self), _handed(lambda: _arguments(type(self), frame)))
        original(self, *args, **kwargs)

    torch.nn.Module.__init__ = noting  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.nn.Module.__init__ = original  # type: ignore[method-assign]


def _arguments(kind: type[torch.nn.Module], frame: FrameType | None) -> dict[str, object]:
    """What a constructor was called with: its variables before it changed them. A class may have none."""
    if frame is None:
        return {}
    parameters = list(inspect.signature(kind.__init__).parameters)[1:]
    return {name: frame.f_locals[name] for name in parameters if name in frame.f_locals}
