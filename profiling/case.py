"""What judges are asked of: one call, how it is made and what we say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import find_call
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace
from forwardbook.profiling.allocated import allocations_of_call
from forwardbook.profiling.allocations import Allocations
from forwardbook.profiling.counted import Counted, count
from forwardbook.profiling.hooks import NotCalled
from forwardbook.schema import Judge


@dataclass(frozen=True)
class Case:
    """One call of a module in the run of a recipe at some sizes, and our quantities of it."""

    recipe: Recipe
    sizes: Mapping[str, int]
    dtype: torch.dtype
    path: str
    occurrence: int
    measured: Mapping[str, int]

    @cached_property
    def recorded(self) -> tuple[Trace, CallRecord]:
        """The same call as we count it: needed where a judge does not know all of its operations."""
        widths = Widths(*(self.dtype.itemsize,) * 3)
        trace, _ = run_measured(self.recipe, self.sizes, self.dtype, widths)
        call = find_call(trace, self.path, self.occurrence)
        if call is None:
            raise NotCalled(self.path, self.occurrence, 0)
        return trace, call

    def counted(self) -> Counted:
        """What torch's counter says of it."""
        return count(self.recipe, self.sizes, self.dtype, self.path, self.occurrence)

    def allocations(self, with_frames: bool = False) -> Allocations:
        """What the CPU allocates in it; `with_frames`, by which lines."""
        call = (self.recipe, self.sizes, self.dtype, self.path, self.occurrence)
        return allocations_of_call(*call, with_frames)


def opinion(name: str, quantity: str, ours: int, theirs: int, left_out: Sequence[str] = ()) -> Judge:
    """Agreement where they say what we say; the remark says what is in neither number."""
    remark = f"left out: {'; '.join(left_out)}" if left_out else ""
    agreed = int(ours == theirs)
    return Judge(
        name=name, quantity=quantity, agreed=agreed, asked=1, remark=remark, ours=ours, theirs=theirs
    )


def silence(name: str, quantity: str, remark: str) -> Judge:
    """No opinion, and why."""
    return Judge(name=name, quantity=quantity, agreed=0, asked=0, remark=remark)
