"""Brackets one call of one module in a model: path and occurrence in; notices before and after it out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import nn

from forwardbook.errors import ForwardbookError


class NotCalled(ForwardbookError):
    """The call that was to be watched did not happen."""

    def __init__(self, path: str, occurrence: int, found: int) -> None:
        super().__init__(
            f"watching call {occurrence} of the module at {path or 'the root'}: it was called {found} times; "
            "take path and occurrence from a run of the same recipe at the same sizes"
        )


@contextmanager
def watched(
    root: nn.Module, path: str, occurrence: int, before: Callable[[], None], after: Callable[[], None]
) -> Iterator[None]:
    """Inside, `before` and `after` run around the call number `occurrence` (from 0) of the module at `path`.

    Raises:
        NotCalled: the block ended without that call.
    """
    calls = [0]

    def enter(*rest: object) -> None:
        if calls[0] == occurrence:
            before()

    def leave(*rest: object) -> None:
        calls[0] += 1
        if calls[0] == occurrence + 1:
            after()

    module = root.get_submodule(path)
    handles = (module.register_forward_pre_hook(enter), module.register_forward_hook(leave))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
    if calls[0] <= occurrence:
        raise NotCalled(path, occurrence, calls[0])
