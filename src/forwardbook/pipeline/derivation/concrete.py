"""A live module and its inputs in; out what this one call cost, as integers, line by line."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from forwardbook.calculator.formulas import LineCost
from forwardbook.errors import ForwardbookError
from forwardbook.schema import Unresolved

if TYPE_CHECKING:
    import torch
    from torch import nn

    from forwardbook.analyzers.symbolic.summary import LineSummary, Summary
    from forwardbook.analyzers.symbolic.trace import Trace


@dataclass(frozen=True, slots=True)
class Report:
    """Every quantity of one call, the cost of each line of its forward(), and what no rule could count.

    `assumptions` are what a run without values took for granted: on meta a branch on data goes one way.
    """

    full_class_name: str
    flops: int
    pointwise_ops: int
    reads: int
    writes: int
    weights: int
    boundary: int
    intermediates: int
    peak: int
    lines: tuple[LineCost[int], ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    assumptions: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The quantities as a small table."""
        numbers = [(f.name, getattr(self, f.name)) for f in fields(self) if f.type == "int"]
        rows = [f"{name:<14}{number:>24,}" for name, number in numbers]
        holes = [f"not counted: {u.operation} at {u.file}:{u.line}" for u in self.unresolved]
        assumed = [f"assumed: {text}" for text in self.assumptions]
        return "\n".join([self.full_class_name, *rows, *holes, *assumed])


def cost(module: nn.Module, *args: object, **kwargs: object) -> Report:
    """What one call `module(*args, **kwargs)` costs in eval mode; it really runs, where the module is."""
    import torch

    if not isinstance(module, torch.nn.Module):
        raise ForwardbookError(
            f"measuring the cost of a call: a torch.nn.Module was expected, found {type(module).__name__}"
        )
    from forwardbook.analyzers.symbolic.fused import FusedOperations
    from forwardbook.analyzers.symbolic.patterns import class_name
    from forwardbook.analyzers.symbolic.recorder import Recorder, Widths
    from forwardbook.analyzers.symbolic.summary import summarise
    from forwardbook.analyzers.symbolic.values import Values

    dtype = _dtype(module)
    meta = _is_meta(module, (args, kwargs))
    recorder = Recorder(Widths(*(dtype.itemsize,) * 3), dtype, Values(symbolic=False) if meta else None)
    with _eval_mode(module), torch.no_grad(), FusedOperations(symbolic=False), recorder.watching(module):
        module(*args, **kwargs)
    trace = recorder.trace
    summary = summarise(trace, trace.calls[0], {})
    return _report(class_name(module), summary, trace)


def _dtype(module: nn.Module) -> torch.dtype:
    """The dtype of the first floating point parameter or buffer, else torch's default."""
    import torch

    tensors = (*module.parameters(), *module.buffers())
    return next((t.dtype for t in tensors if t.is_floating_point()), torch.get_default_dtype())


def _is_meta(module: nn.Module, inputs: object) -> bool:
    import torch
    from torch.utils._pytree import tree_leaves

    tensors = (
        *module.parameters(),
        *(leaf for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)),
    )
    return any(tensor.is_meta for tensor in tensors)


@contextmanager
def _eval_mode(module: nn.Module) -> Iterator[None]:
    """The module in eval mode; afterwards each submodule in the mode in which it was."""
    before = {child: child.training for child in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for child, training in before.items():
            child.training = training


def _report(name: str, summary: Summary, trace: Trace) -> Report:
    from forwardbook.analyzers.symbolic.summary import short_file

    return Report(
        name,
        **{quantity: _whole(size) for quantity, size in summary.quantities().items()},
        lines=tuple(_line(line) for line in summary.lines),
        unresolved=tuple(
            Unresolved(
                file=short_file(u.file), line=u.line, operation=u.name, reason="no rule states its cost"
            )
            for u in trace.unruled
        ),
        assumptions=tuple(sorted(trace.assumed)),
    )


def _line(line: LineSummary) -> LineCost[int]:
    file, first, last = line.key
    code = "\n".join(linecache.getline(file, number).rstrip() for number in range(first, last + 1)).strip()
    cost = line.cost
    amounts = (cost.flops, cost.pointwise_ops, cost.reads, cost.writes)
    return LineCost(first, last, code, *(_whole(amount) for amount in amounts))


def _whole(amount: object) -> int:
    assert isinstance(amount, int)
    return amount
