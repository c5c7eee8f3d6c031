"""Modules of a model in; notices before and after calls of them out: of one call of one, or of all of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

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
    module = root.get_submodule(path)
    forward, own = module.forward, "forward" in vars(module)

    def run(*args: object, **kwargs: object) -> object:
        if calls[0] == occurrence:
            before()
        out = forward(*args, **kwargs)
        calls[0] += 1
        if calls[0] == occurrence + 1:
            after()
        return out

    module.forward = run  # a hook would keep an encoder layer from its fast path
    try:
        yield
    finally:
        if own:
            module.forward = forward
        else:
            del module.forward
    if calls[0] <= occurrence:
        raise NotCalled(path, occurrence, calls[0])


@contextmanager
def announced(
    modules: Iterable[tuple[str, nn.Module]], before: Callable[[str], object], after: Callable[[], object]
) -> Iterator[None]:
    """Inside, `before` gets the name of each module that is called; `after` runs once it ends or raises."""

    def enter(name: str) -> Callable[..., None]:
        return lambda *rest: (before(name), None)[1]  # what a hook returns would take the place of the inputs

    def leave(*rest: object) -> None:
        after()

    with ExitStack() as handles:
        for name, module in modules:
            handles.enter_context(module.register_forward_pre_hook(enter(name)))
            handles.enter_context(module.register_forward_hook(leave, always_call=True))
        yield
