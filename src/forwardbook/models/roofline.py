"""Costs of layers and what a device can do at most in; the least time that each layer can take out.

time = max(flops / peak, bytes / bandwidth). Two figures for bytes, both named: `eager` moves what every
operation reads and writes, `fused` only what enters and leaves (the boundary). Both are least times of the
code that was read, with the flops that it issues; other code for the same model may issue fewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from forwardbook.models.totals import Numbers, Row, Totals, Widths

Bound = Literal["compute", "bandwidth", "none"]
# Formats of arithmetic from narrow to wide: bits, and names from the preferred one on.
FORMATS: Final = (
    (4, ("fp4",)),
    (8, ("fp8", "int8")),
    (16, ("bf16", "fp16")),
    (32, ("fp32",)),
    (64, ("fp64",)),
)


@dataclass(frozen=True)
class Device:
    """What one device can do at most: flop/s for each format, bytes per second, bytes of memory."""

    id: str
    name: str
    flops: Mapping[str, float]
    bandwidth: float
    memory: int
    source: str = ""

    def format_for(self, widths: Widths) -> str:
        """The narrowest format of arithmetic that holds both operands of a product."""
        wanted = max(widths.w_bit, widths.a_bit)
        for bits, names in FORMATS:
            found = next((name for name in names if name in self.flops), None)
            if bits >= wanted and found is not None:
                return found
        return min(self.flops, key=lambda name: self.flops[name])

    def peak(self, widths: Widths) -> float:
        """flop/s in that format."""
        return self.flops[self.format_for(widths)]


@dataclass(frozen=True)
class Timing:
    """Seconds of arithmetic, of eager and of fused movement, for one layer or a whole model."""

    compute: float
    eager_bytes: float
    fused_bytes: float
    eager: float
    fused: float

    @property
    def bound(self) -> Bound:
        """What keeps eager execution from being faster."""
        if not self.eager:
            return "none"
        return "compute" if self.compute >= self.eager_bytes else "bandwidth"

    @property
    def fused_bound(self) -> Bound:
        """What keeps the same code from being faster, perfectly fused."""
        if not self.fused:
            return "none"
        return "compute" if self.compute >= self.fused_bytes else "bandwidth"


def timing(numbers: Numbers, device: Device, widths: Widths) -> Timing:
    """One call seen as a whole: all of its arithmetic beside all of its movement."""
    compute = numbers.flops / device.peak(widths)
    moved, edge = float(numbers.moved) / device.bandwidth, float(numbers.boundary) / device.bandwidth
    return Timing(compute, moved, edge, max(compute, moved), max(compute, edge))


def timings(totals: Totals, device: Device) -> list[Timing]:
    """The time of one call of each row; `eager` is the sum over all that runs beneath, one after another."""
    found: list[Timing] = []
    for row, beneath in reversed(list(zip(totals.rows, children(totals.rows), strict=True))):
        whole = timing(row.one, device, totals.widths)
        spent = timing(row.own, device, totals.widths).eager
        for index in beneath:
            times = totals.rows[index].times // row.times
            spent += found[len(totals.rows) - 1 - index].eager * times
        found.append(Timing(whole.compute, whole.eager_bytes, whole.fused_bytes, spent, whole.fused))
    return found[::-1]


def children(rows: Sequence[Row]) -> list[list[int]]:
    """For each row the places of the rows directly beneath it."""
    found: list[list[int]] = []
    above: list[list[int]] = []
    for index, row in enumerate(rows):
        del above[row.depth :]
        if above:
            above[-1].append(index)
        found.append([])
        above.append(found[-1])
    return found


def ridge(device: Device, widths: Widths) -> Fraction:
    """flops for each byte from which on arithmetic is the bound."""
    return Fraction(device.peak(widths)) / Fraction(device.bandwidth)
