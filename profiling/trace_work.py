"""A trace in; its products by shape, with the kernels that ran them, and what could not be said, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from forwardbook.profiling.contractions import Contraction, Kind, ShapeUnknown, contraction
from forwardbook.profiling.readers.torch_trace import KernelEvent, Operator, TorchTrace, TraceRange

FOREIGN = "an operator of a library, whose arithmetic its shapes do not tell"
OWN = ("aten::", "prim::", "autograd::", "profiler::", "cuda", "hip")


MODULE: Final = "module:"  # ranges of `profile run` that say which module runs begin so


@dataclass(frozen=True)
class Place:
    """The calls of one operator with one shape within one module; its kernels, microseconds."""

    calls: int
    launches: int
    kernels: Mapping[str, float]


def together(places: Sequence[Place]) -> Place:
    """Several places as one."""
    kernels: dict[str, float] = {}
    for place in places:
        for kernel, spent in place.kernels.items():
            kernels[kernel] = kernels.get(kernel, 0.0) + spent
    return Place(sum(one.calls for one in places), sum(one.launches for one in places), kernels)


@dataclass(frozen=True)
class WorkGroup:
    """All calls of one operator with one shape: flops of one call; its kernels, microseconds.

    `modules` are the calls by the module they ran in, where ranges of the trace say so; `matrices` as in
    Contraction.
    """

    operator: str
    kind: Kind
    shape: str
    flops: int
    calls: int
    kernels: Mapping[str, float]
    launches: int
    modules: Mapping[str, Place] = field(default_factory=dict)
    matrices: tuple[int, int, int, int] | None = None

    @property
    def total(self) -> int:
        """flops of all calls."""
        return self.flops * self.calls

    @property
    def kernel_us(self) -> float | None:
        """Microseconds on the device; None where no kernel could be attributed."""
        return sum(self.kernels.values()) if self.kernels else None


@dataclass(frozen=True)
class Unsaid:
    """Something that ran and whose flops the trace does not say."""

    name: str
    calls: int
    reason: str


@dataclass(frozen=True)
class TraceWork:
    """The products of a trace."""

    groups: tuple[WorkGroup, ...]
    unsaid: tuple[Unsaid, ...]
    kernel_us: float
    attributed_us: float

    def total(self, kind: Kind) -> int:
        """flops of all products of a kind."""
        return sum(group.total for group in self.groups if group.kind == kind)


def work_of(trace: TorchTrace) -> TraceWork:
    """Everything that multiplies in a trace, once: what runs inside a counted operator is part of it."""
    by_launch = _kernels_by_operator(trace)
    found: dict[tuple[str, Contraction], list[tuple[str | None, list[KernelEvent]]]] = {}
    modules = _modules(trace)
    unsaid: dict[tuple[str, str], int] = {}
    for thread in _threads(trace.operators).values():
        end = float("-inf")
        place: list[KernelEvent] = []
        for one in thread:
            if one.start_us < end:
                place += by_launch.pop(one.external, []) if one.external is not None else []
                continue
            counted, reason = _judged(one)
            if reason:
                unsaid[one.name, reason] = unsaid.get((one.name, reason), 0) + 1
            if counted is None:
                continue
            end = one.start_us + one.duration_us
            place = by_launch.pop(one.external, []) if one.external is not None else []
            found.setdefault((one.name, counted), []).append((modules.get(id(one)), place))
    groups = tuple(_group(name, what, calls) for (name, what), calls in found.items())
    told = [Unsaid(name, calls, reason) for (name, reason), calls in unsaid.items()]
    return TraceWork(
        groups=tuple(sorted(groups, key=lambda group: -group.total)),
        unsaid=(*told, *_overall(trace)),
        kernel_us=sum(one.duration_us for one in trace.kernels),
        attributed_us=sum(group.kernel_us or 0.0 for group in groups),
    )


def _threads(operators: Iterable[Operator]) -> dict[str, list[Operator]]:
    """Operators of each thread, the outer before the inner."""
    threads: dict[str, list[Operator]] = {}
    for one in operators:
        threads.setdefault(one.thread, []).append(one)
    for found in threads.values():
        found.sort(key=lambda one: (one.start_us, -one.duration_us))
    return threads


def _judged(one: Operator) -> tuple[Contraction | None, str]:
    """The product of an operator, or why nobody can say."""
    if not one.name.startswith(OWN) and "::" in one.name:
        big = [shape for shape in one.shapes or () if len(shape) > 1]
        return None, FOREIGN if len(big) > 1 else ""
    try:
        return contraction(one.name, one.shapes or (), one.concrete), ""
    except ShapeUnknown as error:
        return None, "the trace has no shapes" if one.shapes is None else str(error)


def _kernels_by_operator(trace: TorchTrace) -> dict[int, list[KernelEvent]]:
    """Kernels by the external id of the operator that launched them."""
    found: dict[int, list[KernelEvent]] = {}
    for kernel in trace.kernels:
        owner = trace.owner(kernel)
        if owner is not None:
            found.setdefault(owner, []).append(kernel)
    return found


def _modules(trace: TorchTrace) -> dict[int, str]:
    """The path of the innermost module around each operator, by its identity; the model itself has none."""
    found: dict[int, str] = {}
    threads: dict[str, list[TraceRange]] = {}
    for one in trace.ranges:
        if one.name.startswith(MODULE):
            threads.setdefault(one.thread, []).append(one)
    for thread, operators in _threads(trace.operators).items():
        waiting = sorted(threads.get(thread, ()), key=lambda one: (-one.start_us, one.duration_us))
        stack: list[TraceRange] = []
        for operator in operators:
            while waiting and waiting[-1].start_us <= operator.start_us:
                stack.append(waiting.pop())
            while stack and stack[-1].end_us <= operator.start_us:
                stack.pop()
            if stack:
                found[id(operator)] = stack[-1].name.removeprefix(MODULE)
    return found


def _group(
    name: str, what: Contraction, calls: Sequence[tuple[str | None, Sequence[KernelEvent]]]
) -> WorkGroup:
    places: dict[str, list[Sequence[KernelEvent]]] = {}
    for module, launched in calls:
        if module is not None:
            places.setdefault(module, []).append(launched)
    whole = _place([launched for _, launched in calls])
    return WorkGroup(
        operator=name,
        kind=what.kind,
        shape=what.shape,
        flops=what.flops,
        calls=whole.calls,
        kernels=whole.kernels,
        launches=whole.launches,
        modules={module: _place(found) for module, found in places.items()},
        matrices=what.matrices,
    )


def _place(calls: Sequence[Sequence[KernelEvent]]) -> Place:
    kernels: dict[str, float] = {}
    for launched in calls:
        for kernel in launched:
            kernels[kernel.name] = kernels.get(kernel.name, 0.0) + kernel.duration_us
    return Place(len(calls), sum(len(launched) for launched in calls), kernels)


def _overall(trace: TorchTrace) -> list[Unsaid]:
    """What a trace as a whole leaves unsaid: kernels that no operator launched, such as those of a graph."""
    found: list[Unsaid] = []
    owned = sum(
        1
        for kernel in trace.kernels
        if kernel.external is not None or trace.launched.get(kernel.correlation or -1) is not None
    )
    known = {one.external for one in trace.operators if one.external is not None}
    replayed = sum(1 for k in trace.kernels if k.external is not None and k.external not in known)
    orphans = len(trace.kernels) - owned + replayed
    if orphans:
        reason = "launched by no operator of the trace (a graph that was replayed, or a launch not traced)"
        found.append(Unsaid("kernels", orphans, reason))
    if trace.operators and not trace.has_shapes:
        found.append(Unsaid("shapes", len(trace.operators), "profile with record_shapes=True"))
    return found
