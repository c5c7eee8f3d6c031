"""A Chrome trace of torch.profiler in (plain or gzip, 1.13 to 2.13); devices, operators, kernels out."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from forwardbook.profiling.readers.kernels import Dim3, KernelRow
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable

Shape = tuple[int, ...]
GZIP: Final = b"\x1f\x8b"
VERSIONS: Final = ("cuda_runtime_version", "cuda_driver_version", "hip_runtime_version", "hip_driver_version")


@dataclass(frozen=True)
class Operator:
    """One call of an operator on the CPU; shapes are None where the trace was taken without record_shapes."""

    name: str
    shapes: tuple[Shape, ...] | None
    dtypes: tuple[str, ...]
    start_us: float
    duration_us: float
    thread: str
    external: int | None
    concrete: tuple[str, ...] = ()


@dataclass(frozen=True)
class KernelEvent:
    """One launch of a kernel, and the operator it belongs to where the trace says so."""

    name: str
    duration_us: float
    grid: Dim3 | None
    block: Dim3 | None
    device: int | None
    external: int | None
    correlation: int | None


@dataclass(frozen=True)
class TraceRange:
    """A named stretch of time on the CPU: a phase, a module, or whatever the program marked."""

    name: str
    start_us: float
    duration_us: float
    thread: str

    @property
    def end_us(self) -> float:
        """When it ended."""
        return self.start_us + self.duration_us


@dataclass(frozen=True)
class TorchTrace:
    """What the trace holds; `settings` are what the profiler was told to record."""

    file: str
    devices: tuple[str, ...]
    operators: tuple[Operator, ...]
    kernels: tuple[KernelEvent, ...]
    counters: Mapping[str, Mapping[str, float]]
    settings: Mapping[str, int | str]
    launched: Mapping[int, int]
    ranges: tuple[TraceRange, ...] = ()

    def named(self, name: str) -> list[TraceRange]:
        """The ranges of that name in the order in which they began."""
        return sorted((one for one in self.ranges if one.name == name), key=lambda one: one.start_us)

    def owner(self, kernel: KernelEvent) -> int | None:
        """The external id of the operator that launched a kernel; None where the trace does not say."""
        if kernel.external is None and kernel.correlation is not None:
            return self.launched.get(kernel.correlation)
        return kernel.external

    def within(self, one: TraceRange) -> TorchTrace:
        """The operators that began in a range, and the kernels that they launched, whenever those ran."""
        operators = tuple(op for op in self.operators if one.start_us <= op.start_us < one.end_us)
        ids = {op.external for op in operators if op.external is not None}
        kernels = tuple(kernel for kernel in self.kernels if self.owner(kernel) in ids)
        ranges = tuple(r for r in self.ranges if one.start_us <= r.start_us < one.end_us)
        return replace(self, operators=operators, kernels=kernels, ranges=ranges)

    @property
    def has_shapes(self) -> bool:
        """Whether any operator says the shapes of its inputs."""
        return any(one.shapes is not None for one in self.operators)


def read_torch_trace(path: Path) -> TorchTrace:
    """The events of a trace.

    Raises:
        ReportUnreadable: for a file that is no trace, or was cut off.
        NothingCaptured: for a trace with neither operators nor kernels.
    """
    events, head = _loaded(path)
    trace = TorchTrace(
        file=path.name,
        devices=_devices(head.get("deviceProperties")),
        operators=tuple(_operators(events)),
        kernels=tuple(_kernels(events)),
        counters=_counters(events),
        settings={k: v for k, v in head.items() if isinstance(v, int | str) and _is_setting(k)},
        launched=_launched(events),
        ranges=tuple(_ranges(events)),
    )
    if not trace.operators and not trace.kernels and not trace.counters:
        raise NothingCaptured(
            path.name, "operator and no kernel", (), "was the profiler started and stopped?"
        )
    return trace


_WHAT: Final = "give what torch.profiler's export_chrome_trace wrote, plain or gzip"


def _is_setting(key: str) -> bool:
    return key in VERSIONS or key.startswith(("with_", "record_", "profile_")) or key == "schemaVersion"


def _loaded(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    try:
        data = path.read_bytes()
        if data.startswith(GZIP):
            data = gzip.decompress(data)
        values = json.loads(data)
    except FileNotFoundError as error:
        raise ReportUnreadable(path.name, "there is no such file") from error
    except (OSError, EOFError, gzip.BadGzipFile) as error:
        raise ReportUnreadable(path.name, f"{type(error).__name__}: {error}") from error
    except ValueError as error:
        begun = data.lstrip()[:1] in (b"{", b"[")
        step = "a trace that was cut off cannot be read: export it again" if begun else _WHAT
        raise ReportUnreadable(path.name, f"it is no JSON: {error}", step) from error
    head = values if isinstance(values, dict) else {}
    events = head.get("traceEvents") if isinstance(values, dict) else values
    if not isinstance(events, list):
        raise ReportUnreadable(
            path.name, "it is JSON without traceEvents", "give what export_chrome_trace wrote"
        )
    return [event for event in events if isinstance(event, dict)], head


def _devices(listed: object) -> tuple[str, ...]:
    """Names in order of their ids; one without a name is None of ours to guess."""
    found = [d for d in listed if isinstance(d, dict)] if isinstance(listed, list) else []
    return tuple(str(d.get("name", "")) for d in found)


def _category(event: Mapping[str, Any]) -> str:
    return str(event.get("cat", "")).lower()


def _operators(events: Sequence[dict[str, Any]]) -> Iterator[Operator]:
    """Categories were written `Operator` before torch 1.12."""
    for event in events:
        if event.get("ph") == "X" and _category(event) in ("cpu_op", "operator"):
            args = event.get("args") or {}
            yield Operator(
                name=str(event["name"]),
                shapes=_shapes(args.get("Input Dims", args.get("Input dims"))),
                dtypes=tuple(str(kind) for kind in args.get("Input type", ())),
                start_us=float(event.get("ts", 0)),
                duration_us=float(event.get("dur", 0)),
                thread=_thread(event),
                external=_integer(args.get("External id", args.get("external id"))),
                concrete=tuple(str(one) for one in args.get("Concrete Inputs", ())),
            )


def _ranges(events: Sequence[dict[str, Any]]) -> Iterator[TraceRange]:
    for event in events:
        if event.get("ph") == "X" and _category(event) == "user_annotation":
            yield TraceRange(
                name=str(event.get("name", "")),
                start_us=float(event.get("ts", 0)),
                duration_us=float(event.get("dur", 0)),
                thread=_thread(event),
            )


def _thread(event: Mapping[str, Any]) -> str:
    return f"{event.get('pid')}/{event.get('tid')}"


def _shapes(listed: object) -> tuple[Shape, ...] | None:
    """A shape for each input; lists of tensors have none of their own."""
    if not isinstance(listed, list):
        return None
    return tuple(
        tuple(one) if isinstance(one, list) and all(isinstance(n, int) for n in one) else () for one in listed
    )


def _kernels(events: Sequence[dict[str, Any]]) -> Iterator[KernelEvent]:
    for event in events:
        if event.get("ph") == "X" and _category(event) == "kernel":
            args = event.get("args") or {}
            yield KernelEvent(
                name=str(event["name"]),
                duration_us=float(event.get("dur", 0)),
                grid=_dim3(args.get("grid")),
                block=_dim3(args.get("block")),
                device=_integer(args.get("device")),
                external=_integer(args.get("External id", args.get("external id"))),
                correlation=_integer(args.get("correlation")),
            )


def _launched(events: Sequence[dict[str, Any]]) -> dict[int, int]:
    """Which operator launched what: correlation to external id, from the calls of the runtime."""
    found: dict[int, int] = {}
    for event in events:
        args = event.get("args") or {}
        external, correlation = args.get("External id"), args.get("correlation")
        if not isinstance(correlation, int) or not isinstance(external, int):
            continue
        if _category(event) in ("cuda_runtime", "cuda_driver"):
            found[correlation] = external
    return found


def _counters(events: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Counters of CUPTI for each kernel, where the profiler measured them."""
    found: dict[str, dict[str, float]] = {}
    for event in events:
        if _category(event) == "cuda_profiler_range":
            args = event.get("args") or {}
            numbers = {str(k): float(v) for k, v in args.items() if _is_number(v)}
            found[f"{len(found)}: {event.get('name', '')}"] = numbers
    return found


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def _dim3(listed: object) -> Dim3 | None:
    if isinstance(listed, list) and len(listed) == 3:
        return int(listed[0]), int(listed[1]), int(listed[2])
    return None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) else None


def kernel_rows(trace: TorchTrace) -> list[KernelRow]:
    """Kernels by name and grid, as the Nsight tools list them; the trace has microseconds."""
    groups: dict[tuple[object, ...], list[KernelEvent]] = {}
    for one in trace.kernels:
        groups.setdefault((one.name, one.grid, one.block, one.device), []).append(one)
    rows: list[KernelRow] = []
    for found in groups.values():
        times = [round(one.duration_us * 1000) for one in found]
        rows.append(
            KernelRow(
                name=found[0].name,
                instances=len(times),
                total_ns=sum(times),
                avg_ns=sum(times) / len(times),
                min_ns=min(times),
                max_ns=max(times),
                grid=found[0].grid,
                block=found[0].block,
                device=found[0].device,
            )
        )
    return rows
