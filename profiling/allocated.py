"""One call of a module on the CPU in; what torch's profiler saw allocated and released in it, out."""

from __future__ import annotations

import os
from collections.abc import Mapping

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.instances.tensors import PlainMaker
from forwardbook.analyzers.symbolic.bridges import no_initialisation
from forwardbook.analyzers.symbolic.run import NumberSizes, default_dtype
from forwardbook.errors import ForwardbookError
from forwardbook.profiling.allocations import Allocations, allocations_in
from forwardbook.profiling.hooks import watched

PARAMETERS = 30_000_000  # above it building the model with real weights takes longer than the answer is worth
_MARK = "forwardbook: the watched call"


class TooLarge(ForwardbookError):
    """A model that would not be built with real weights."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"building the model on the CPU: it has {count:,} parameters, more than {PARAMETERS:,}"
        )


def allocations_of_call(
    recipe: Recipe,
    sizes: Mapping[str, int],
    dtype: torch.dtype,
    path: str,
    occurrence: int,
    with_frames: bool = False,
) -> Allocations:
    """What was allocated in the call and when it was released; `with_frames`, by which lines of Python.

    Raises:
        TooLarge: the model has too many parameters.
        Exception: whatever the module raises when it is built or called.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler prints when it starts and stops
    chosen = NumberSizes(sizes)
    with default_dtype(dtype):
        with torch.device("meta"), no_initialisation():
            count = _parameters(recipe.build(chosen))
        if count > PARAMETERS:
            raise TooLarge(count)
        with torch.no_grad(), torch.device("cpu"):
            root = recipe.build(chosen).eval()
            args, kwargs = recipe.inputs(chosen, root, PlainMaker("cpu"))
        mark = record_function(_MARK)
        with (
            torch.no_grad(),
            watched(root, path, occurrence, lambda: _open(mark), lambda: mark.__exit__(None, None, None)),
            profile(
                activities=[ProfilerActivity.CPU], profile_memory=True, with_stack=with_frames
            ) as profiled,
        ):
            root(*args, **kwargs)
    assert profiled.profiler is not None and profiled.profiler.kineto_results is not None
    [found] = allocations_in(profiled.profiler.kineto_results.experimental_event_tree(), [_MARK])
    return found


def _open(mark: record_function) -> None:
    mark.__enter__()


def _parameters(root: nn.Module) -> int:
    return sum(p.numel() for p in root.parameters())
