"""A recipe and sizes in; out what one call of its class really cost, run with values on the CPU."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from forwardbook.analyzers.instances.draw import ChosenSizes
from forwardbook.analyzers.instances.recipe import Recipe, full_name
from forwardbook.analyzers.instances.tensors import PlainMaker
from forwardbook.analyzers.reader import line_map
from forwardbook.analyzers.symbolic.fused import FusedOperations
from forwardbook.analyzers.symbolic.patterns import calls_of
from forwardbook.analyzers.symbolic.recorder import Recorder, Widths
from forwardbook.analyzers.symbolic.run import default_dtype, run_measured
from forwardbook.analyzers.symbolic.summary import Summary, forward_code, summarise
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.errors import ForwardbookError
from forwardbook.profiling.claim import PER_LINE


class NotCalled(ForwardbookError):
    """A class whose forward() did not run."""


class ScaledMaker(PlainMaker):
    """Inputs of both signs at a magnitude, so that what depends on data takes several ways."""

    def __init__(self, scale: float, seed: int) -> None:
        super().__init__("cpu", seed)
        self.scale = scale

    def floats(self, shape: Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
        """Random values of both signs."""
        drawn = torch.randn(tuple(shape), generator=self._generator) * self.scale
        return drawn.to(dtype or torch.get_default_dtype())


@dataclass(frozen=True)
class RealRun:
    """One call: its totals, its statements by line, how often each line began to run, torch's own count."""

    totals: dict[str, int]
    lines: dict[int, dict[str, int]]
    hits: Mapping[int, int]
    operations: dict[int, tuple[str, ...]]
    unruled: tuple[str, ...]
    counted_flops: int | None


def run_real(
    recipe: Recipe, sizes: Mapping[str, int], dtype: torch.dtype, widths: Widths, scale: float, seed: int
) -> RealRun:
    """The first call of the class in a run on the CPU.

    Raises:
        NotCalled: its forward() did not run.
        Exception: whatever the module raises at these sizes.
    """
    torch.manual_seed(seed)
    chosen = ChosenSizes(sizes)
    recorder = Recorder(widths, dtype)
    counter = FlopCounterMode(display=False)
    with default_dtype(dtype), torch.no_grad():
        root = recipe.build(chosen).eval()
        args, kwargs = recipe.inputs(chosen, root, ScaledMaker(scale, seed))
        kinds = {type(module) for module in root.modules()}
        target = next((k for k in kinds if full_name(k) == recipe.calls_as), None)
        with counter, FusedOperations(symbolic=False), recorder.watching(root), _lines(target) as hits:
            root(*args, **kwargs)
    return _read(recorder.trace, recipe, target, hits[0] if hits else {}, counter.get_total_flops())


def run_on_meta(recipe: Recipe, sizes: Mapping[str, int], dtype: torch.dtype, widths: Widths) -> RealRun:
    """The same without values, on the meta device, where sizes are free; what data decides is assumed.

    Raises:
        NotCalled: its forward() did not run, or data was asked for a number.
        Exception: whatever the module raises at these sizes.
    """
    trace, root = run_measured(recipe, sizes, dtype, widths)
    if trace.assumed or trace.data:
        raise NotCalled(f"running {recipe.target} without values: data decides there")
    target = next((k for k in map(type, root.modules()) if full_name(k) == recipe.calls_as), None)
    return _read(trace, recipe, target, {}, 0)


def _read(
    trace: Trace,
    recipe: Recipe,
    target: type[torch.nn.Module] | None,
    hits: Mapping[int, int],
    counted: int,
) -> RealRun:
    """The first call of the class in a trace."""
    calls = calls_of(trace, recipe.calls_as)
    if not calls or target is None:
        raise NotCalled(f"running {recipe.target}: its forward() was not called")
    call = calls[0]
    summary = summarise(trace, call, {})
    costs, operations = _by_statement(summary, forward_code(target)[0])
    return RealRun(
        {name: int(str(size)) for name, size in summary.quantities().items()},
        costs,
        hits,
        operations,
        tuple(u.name for u in trace.unruled if call.index in trace.ancestors(u.call)),
        counted if call.parent < 0 else None,
    )


def _by_statement(
    summary: Summary, file: str
) -> tuple[dict[int, dict[str, int]], dict[int, tuple[str, ...]]]:
    """Costs and operations by the line on which the statement begins."""
    costs: dict[int, dict[str, int]] = {}
    names: dict[int, dict[str, None]] = {}
    for line in summary.lines:
        span = line_map(file).statement(line.key[1]) if line.key[1] and line.key[0] == file else None
        number = span.line if span is not None else line.key[1]
        row = costs.setdefault(number, dict.fromkeys(PER_LINE, 0))
        for quantity in PER_LINE:
            row[quantity] += int(str(getattr(line.cost, quantity)))
        for name, _ in line.operations:
            names.setdefault(number, {})[name] = None
    return costs, {number: tuple(sorted(found)) for number, found in names.items()}


@contextmanager
def _lines(target: type[torch.nn.Module] | None) -> Iterator[list[Counter[int]]]:
    """How often each line of the forward() of a class begins to run, call by call."""
    found: list[Counter[int]] = []
    code: CodeType | None = getattr(getattr(target, "forward", None), "__code__", None)

    def watch(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code is not code:
            return None
        counted: Counter[int] = Counter()
        found.append(counted)

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                counted[frame.f_lineno] += 1
            return line

        return line

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield found
    finally:
        sys.settrace(before)
