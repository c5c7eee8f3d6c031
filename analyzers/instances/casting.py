"""Code that asks how operations are cast, on meta tensors; it is told what it would be of a processor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def casting_on_meta() -> Iterator[None]:
    """Inside, `torch.autocast` and what asks about it take the meta device, which they do not know.

    Nothing is cast there.
    """
    kind = torch.amp.autocast_mode.autocast
    begin, asks_dtype, asks_enabled = kind.__init__, torch.get_autocast_dtype, torch.is_autocast_enabled

    def begun(self: torch.autocast, device_type: str, *args: object, **kwargs: object) -> None:
        begin(self, _known(device_type), *args, **kwargs)  # type: ignore[arg-type]

    kind.__init__ = begun  # type: ignore[method-assign]
    vars(torch).update(get_autocast_dtype=_on_known(asks_dtype), is_autocast_enabled=_on_known(asks_enabled))
    try:
        yield
    finally:
        kind.__init__ = begin  # type: ignore[method-assign]
        vars(torch).update(get_autocast_dtype=asks_dtype, is_autocast_enabled=asks_enabled)


def _on_known(ask: Callable[P, R]) -> Callable[P, R]:
    """The question about a device, put about the processor where it is about meta."""

    @wraps(ask)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        return ask(*map(_known, args), **{name: _known(value) for name, value in kwargs.items()})  # type: ignore[arg-type]

    return answer


def _known(device_type: object) -> object:
    return "cpu" if device_type == "meta" else device_type
