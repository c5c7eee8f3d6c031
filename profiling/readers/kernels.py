"""What any tool says of the kernels of a run: one row for each, typed; None is what it did not say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Dim3 = tuple[int, int, int]
Number = int | float


@dataclass(frozen=True)
class KernelRow:
    """A kernel and all its launches (of one grid, where the tool tells grids apart); times in nanoseconds."""

    name: str
    instances: int | None
    total_ns: Number | None
    avg_ns: Number | None = None
    med_ns: Number | None = None
    min_ns: Number | None = None
    max_ns: Number | None = None
    stddev_ns: Number | None = None
    mangled: str | None = None
    grid: Dim3 | None = None
    block: Dim3 | None = None
    device: int | None = None


@dataclass(frozen=True)
class Metric:
    """One counter in base units; `value` is None where the tool had a name and no number."""

    name: str
    value: Number | None
    unit: str
    section: str = ""
    text: str = ""


@dataclass(frozen=True)
class Launch:
    """One profiled launch of a kernel with its counters; a counter that was not collected is not there."""

    id: int
    name: str
    metrics: Mapping[str, Metric]
    mangled: str | None = None
    grid: Dim3 | None = None
    block: Dim3 | None = None
    device: str | None = None
    compute_capability: str | None = None
    ranges: tuple[str, ...] = ()
    process: str = ""
    rules: tuple[str, ...] = field(default=())

    def value(self, name: str) -> Number | None:
        """The number of a counter; None where it was not collected or has none."""
        found = self.metrics.get(name)
        return None if found is None else found.value


def dim3(text: str) -> Dim3 | None:
    """Three numbers in any dress: `(152, 4, 1)` or ` 512  512    1`."""
    parts = text.replace("(", " ").replace(")", " ").replace(",", " ").replace("x", " ").split()
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])


def by_name(rows: Iterable[KernelRow]) -> list[KernelRow]:
    """One row for each name, times and instances added over grids, the longest first.

    A sum in which one part is not known is not known; averages follow from sums, medians are dropped.
    """
    groups: dict[str, list[KernelRow]] = {}
    for row in rows:
        groups.setdefault(row.name, []).append(row)
    summed = [_together(group) for group in groups.values()]
    return sorted(summed, key=lambda row: (-(row.total_ns or 0), row.name))


def _together(group: list[KernelRow]) -> KernelRow:
    if len(group) == 1:
        return group[0]
    totals, counts = [r.total_ns for r in group], [r.instances for r in group]
    total = None if None in totals else sum(t for t in totals if t is not None)
    count = None if None in counts else sum(c for c in counts if c is not None)
    least = [r.min_ns for r in group if r.min_ns is not None]
    most = [r.max_ns for r in group if r.max_ns is not None]
    mangled = {r.mangled for r in group}
    devices = {r.device for r in group}
    return KernelRow(
        name=group[0].name,
        instances=count,
        total_ns=total,
        avg_ns=total / count if total is not None and count else None,
        min_ns=min(least) if len(least) == len(group) else None,
        max_ns=max(most) if len(most) == len(group) else None,
        mangled=mangled.pop() if len(mangled) == 1 else None,
        device=devices.pop() if len(devices) == 1 else None,
    )
