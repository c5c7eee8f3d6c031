"""Counters of kernels and the products of a trace in; each counter as a padded product, or none, out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forwardbook.profiling.kernel_analysis import AnalysedKernel, analyse_folder
from forwardbook.profiling.tiles import Padding, explain
from forwardbook.profiling.trace_work import WorkGroup

_SHAPE = re.compile(r"(?P<m>\d+)x(?P<k>\d+) @ \d+x(?P<n>\d+)")


@dataclass(frozen=True)
class CounterCheck:
    """One launch: what its counter says, and the product it is once tiles are filled up."""

    kernel: AnalysedKernel
    group: WorkGroup | None
    padding: Padding | None

    @property
    def explained(self) -> bool:
        """Whether there is nothing to explain, or a product explains it."""
        return self.kernel.work.flops is None or self.padding is not None

    @property
    def text(self) -> str:
        """formula <= counter = padded(formula), or what is known."""
        label, flops = self.kernel.label, self.kernel.work.flops
        if flops is None:
            return f"counter {label}: not collected: {'; '.join(self.kernel.work.missing)}"
        if self.padding is None or self.group is None:
            tiles = self.kernel.tiles()
            shown = f"{flops:,} = {tiles}" if tiles else f"{flops:,}"
            return f"counter {label}: {shown}: no product of the trace explains it"
        more = (self.padding.counter - self.padding.formula) / self.padding.formula
        product = f"{self.group.operator} {self.group.shape}"
        return (
            f"counter {label}: formula {self.padding.formula:,} ({product}) <= "
            f"counter {self.padding.text}, {more:.1%} of padding"
        )


def check_counters(folder: Path, groups: Sequence[WorkGroup]) -> tuple[CounterCheck, ...]:
    """Each launch in a folder of Nsight Compute reports beside the product that it ran.

    Raises:
        ReportUnreadable: for a folder without readable reports.
    """
    return tuple(_checked(one, groups) for one in analyse_folder(folder).kernels)


def _checked(kernel: AnalysedKernel, groups: Sequence[WorkGroup]) -> CounterCheck:
    """The product with the least padding that explains the counter."""
    counter, grid = kernel.work.flops, kernel.launch.grid
    if counter is None or grid is None:
        return CounterCheck(kernel, None, None)
    found: list[tuple[int, WorkGroup, Padding]] = []
    for group in groups:
        shape = _SHAPE.fullmatch(group.shape)
        if shape is None:
            continue
        padding = explain(counter, grid, kernel.launch.name, *(int(shape[n]) for n in ("m", "n", "k")))
        if padding is not None:
            found.append((counter - padding.formula, group, padding))
    if not found:
        return CounterCheck(kernel, None, None)
    _, group, padding = min(found, key=lambda one: one[0])
    return CounterCheck(kernel, group, padding)
