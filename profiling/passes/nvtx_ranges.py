"""Ranges for Nsight tools around phases and modules; nothing without a tool, loud where one drops them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import torch
from torch import nn

from forwardbook.profiling.hooks import announced
from forwardbook.profiling.passes.workload import CallSeen, Workload, watching

DOMAIN: Final = "forwardbook"
INJECTION: Final = "NVTX_INJECTION64_PATH"

Push = Callable[[str], object]
Pop = Callable[[], object]


def pusher(told: Callable[[str], None] = lambda text: print(text, file=sys.stderr)) -> tuple[Push, Pop, str]:
    """How to begin and end a range, and what does it: torch's CUDA bindings, the package nvtx, or nothing."""
    if torch.cuda.is_available():
        return torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop, "torch.cuda.nvtx"
    try:
        import nvtx  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        if os.environ.get(INJECTION):
            told("warning: a tool waits for NVTX ranges, but nvtx is not installed: it will see none")
        return _nothing, _nothing, "none"
    domain: Any = nvtx.get_domain(DOMAIN)
    if os.environ.get(INJECTION) and type(domain).__name__ == "DummyDomain":
        told(
            "warning: this version of nvtx finds its domain disabled by the tool and records NO ranges; "
            "nsys up to 2023.4 needs nvtx 0.2.11 or older: pip install 'nvtx<0.2.12'"
        )
    return partial(nvtx.push_range, domain=DOMAIN), partial(nvtx.pop_range, domain=DOMAIN), "nvtx"


def _nothing(*rest: object) -> None:
    """There is no tool."""


class _Ranges:
    def __init__(self, push: Push, pop: Pop) -> None:
        self.push, self.pop = push, pop

    def before(self, call: CallSeen) -> None:
        """A phase begins."""
        self.push(call.phase)

    def after(self, call: CallSeen) -> None:
        """It has ended."""
        self.pop()


@contextmanager
def nvtx_ranges(workload: Workload, modules: bool = False) -> Iterator[str]:
    """Inside, phases (and modules, by path) are ranges; the value says what makes them."""
    push, pop, maker = pusher()
    named = _named(workload.model) if modules and maker != "none" else ()
    with announced(named, push, pop), watching(workload, _Ranges(push, pop)):
        yield maker


def _named(model: nn.Module) -> list[tuple[str, nn.Module]]:
    return [(name, module) for name, module in model.named_modules() if name]
