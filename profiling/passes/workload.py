"""What is run and measured: a module on a device, what to call, and which of its calls are which phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import nn

PAST = ("past_key_values", "cache_params", "state")


@dataclass(frozen=True)
class Workload:
    """A module, the function that runs it once from begin to end, and its encoder if it has one."""

    model: nn.Module
    run: Callable[[], object]
    device: torch.device
    dtype: torch.dtype
    generates: bool
    encoder: nn.Module | None = None


@dataclass(frozen=True)
class CallSeen:
    """One call of the model within a run: its phase, and the positions it had and found in the cache."""

    index: int
    phase: str
    positions: int | None
    past: int


class Watcher(Protocol):
    """Told before and after each call of the model; what runs outside of calls is nobody's."""

    def before(self, call: CallSeen) -> None:
        """A call begins."""
        ...

    def after(self, call: CallSeen) -> None:
        """It has returned."""
        ...


@dataclass
class _Calls:
    workload: Workload
    watcher: Watcher
    seen: list[CallSeen] = field(default_factory=list)
    open: list[CallSeen] = field(default_factory=list)

    def enter(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if module is self.workload.encoder:
            if self.open:  # the whole model called its encoder itself: part of that call
                return
            call = CallSeen(len(self.seen), "encode", None, 0)
        else:
            call = CallSeen(len(self.seen), *_judged(self.workload, args, kwargs))
        self.seen.append(call)
        self.open.append(call)
        self.watcher.before(call)

    def leave(self, module: nn.Module, *rest: object) -> None:
        encoding = module is self.workload.encoder
        if self.open and (self.open[-1].phase == "encode") == encoding:
            self.watcher.after(self.open.pop())


@contextmanager
def watching(workload: Workload, watcher: Watcher) -> Iterator[list[CallSeen]]:
    """Inside, each call of the model or its encoder is announced; the list holds those seen so far."""
    calls = _Calls(workload, watcher)
    modules = [workload.model] + ([workload.encoder] if workload.encoder is not None else [])
    handles = []
    for module in modules:
        handles.append(module.register_forward_pre_hook(calls.enter, with_kwargs=True))
        handles.append(module.register_forward_hook(calls.leave, always_call=True))
    try:
        yield calls.seen
    finally:
        for handle in handles:
            handle.remove()


def _judged(
    workload: Workload, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[str, int | None, int]:
    """By what the cache holds: a prompt that is cut in pieces is prefill throughout its first piece alone."""
    if not workload.generates:
        return "forward", None, 0
    past = next((held_positions(kwargs[name]) for name in PAST if kwargs.get(name) is not None), 0)
    ids = kwargs.get("decoder_input_ids", kwargs.get("input_ids", args[0] if args else None))
    positions = int(ids.shape[-1]) if isinstance(ids, torch.Tensor) else None
    if not past:
        return "prefill", positions, 0
    return ("decode" if positions in (1, None) else "chunk"), positions, past


def held_positions(cache: Any) -> int:
    """How many positions a cache holds."""
    ask = getattr(cache, "get_seq_length", None)
    return int(ask()) if callable(ask) else 0


def synchronise(device: torch.device) -> None:
    """Waits for all that was launched; a processor has nothing to wait for."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
