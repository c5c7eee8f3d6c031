"""Counters of one launch in; its arithmetic, bytes and time out, None where not collected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from forwardbook.models.roofline import Device
from forwardbook.profiling.peaks import ACCUMULATES, into
from forwardbook.profiling.readers.kernels import Launch, Number

READ: Final = "dram__bytes_read.sum"
WRITTEN: Final = "dram__bytes_write.sum"
OPERATIONS: Final = "operations (sm__ops_path_tensor_*, smsp__sass_thread_inst_executed_op_*)"
TIME: Final = ("gpu__time_duration.sum", "Duration")
_TENSOR = re.compile(
    r"sm__ops_path_tensor_src_(?P<source>\w+?)(?:_dst_(?P<to>fp16|fp32|fp64|bf16|int32))?\.sum"
)
_VECTOR = re.compile(r"smsp__sass_thread_inst_executed_op_(?P<kind>[fhd])(?P<op>add|mul|fma)_pred_on\.sum")
# The pipelines beside the tensor cores: half, single, double.
VECTOR: Final = {"h": "fp16", "f": "fp32", "d": "fp64"}
# Two products in one instruction: h instructions work on pairs.
WIDTH: Final = {"h": 2, "f": 1, "d": 1}
Bound = Literal["compute", "bandwidth", "unknown"]


@dataclass(frozen=True)
class KernelWork:
    """A launch on the roofline; `format` is the arithmetic that most of its operations are in."""

    name: str
    flops: int | None
    bytes: Number | None
    seconds: float | None
    formats: Mapping[str, int]
    missing: tuple[str, ...]
    tensor: int = 0
    """Of the flops those of tensor cores: products alone; the rest may be what is done to their results."""
    fused: Mapping[str, int] = field(default_factory=dict)
    """By format, the multiply-adds among the others: of these are products where no tensor core works."""

    @property
    def multiplied(self) -> int | None:
        """Operations of tensor cores, or all where none worked or they were not told apart."""
        return self.tensor or self.flops

    @property
    def format(self) -> str | None:
        """The format with most operations."""
        return max(self.formats, key=lambda kind: self.formats[kind]) if any(self.formats.values()) else None

    @property
    def intensity(self) -> float | None:
        """flops for each byte of DRAM; None where either is unknown or no byte was moved."""
        return self.flops / self.bytes if self.flops is not None and self.bytes else None

    @property
    def rate(self) -> float | None:
        """flop/s."""
        return self.flops / self.seconds if self.flops is not None and self.seconds else None

    @property
    def bandwidth(self) -> float | None:
        """Bytes of DRAM per second."""
        return self.bytes / self.seconds if self.bytes is not None and self.seconds else None

    def peak(self, device: Device | None) -> float | None:
        """The peak of the device in the format of this kernel; None where the table has none."""
        return device.flops.get(self.format) if device is not None and self.format is not None else None

    def bound(self, device: Device | None) -> Bound:
        """On which side of the ridge of its own format it lies."""
        peak, intensity = self.peak(device), self.intensity
        if device is None or peak is None or intensity is None:
            return "unknown"
        return "compute" if intensity >= peak / device.bandwidth else "bandwidth"


def work(launch: Launch) -> KernelWork:
    """What the counters of a launch say.

    Operations of tensor cores and of the other pipelines are added: each kernel uses one, some both. Where
    the other pipelines were not counted and no tensor core worked, the operations are not 0 but unknown.
    """
    tensor, vector, fused = _operations(launch)
    formats: dict[str, int] = {}
    for kind, count in [*tensor, *vector]:
        formats[kind] = formats.get(kind, 0) + count
    known = bool(vector) or any(count for _, count in tensor)
    read, written = launch.value(READ), launch.value(WRITTEN)
    seconds = next((launch.value(name) for name in TIME if launch.value(name) is not None), None)
    facts = {READ: read, WRITTEN: written, TIME[0]: seconds, OPERATIONS: True if known else None}
    return KernelWork(
        name=launch.name,
        flops=sum(formats.values()) if known else None,
        bytes=read + written if read is not None and written is not None else None,
        seconds=None if seconds is None else float(seconds),
        formats=formats,
        missing=tuple(name for name, value in facts.items() if value is None),
        tensor=sum(count for _, count in tensor),
        fused=fused,
    )


def _operations(
    launch: Launch,
) -> tuple[list[tuple[str, int]], list[tuple[str, int]], dict[str, int]]:
    """Formats and operations on tensor cores, and beside them; of these the multiply-adds, of 2 each."""
    tensor: list[tuple[str, int]] = []
    vector: list[tuple[str, int]] = []
    fused: dict[str, int] = {}
    for name, metric in launch.metrics.items():
        if metric.value is None:
            continue
        if found := _TENSOR.fullmatch(name):
            tensor.append((_format(found["source"], found["to"]), int(metric.value)))
        elif found := _VECTOR.fullmatch(name):
            each = WIDTH[found["kind"]] * (2 if found["op"] == "fma" else 1)
            vector.append((VECTOR[found["kind"]], each * int(metric.value)))
            if found["op"] == "fma":
                fused[VECTOR[found["kind"]]] = each * int(metric.value)
    return tensor, vector, fused


def _format(source: str, to: str | None) -> str:
    """The name in the table of peaks; some chips count several formats as one, or do not tell the sums'."""
    kind = "fp16" if source == "fp16_bf16_tf32" else source
    return kind if to is None or to == ACCUMULATES.get(kind) else into(kind, to)


def merged(launches: Iterable[Launch]) -> list[Launch]:
    """Launches that several pages of one capture describe, with the counters of all of them."""
    found: dict[tuple[object, ...], Launch] = {}
    for one in launches:
        key = (one.process, one.id, one.name, one.grid, one.block)
        known = found.get(key)
        if known is None:
            found[key] = one
        else:
            metrics = {**one.metrics, **{n: m for n, m in known.metrics.items() if m.value is not None}}
            found[key] = _with(known, metrics)
    return list(found.values())


def _with(launch: Launch, metrics: Mapping[str, object]) -> Launch:
    from dataclasses import replace

    return replace(launch, metrics=metrics)  # type: ignore[arg-type]
