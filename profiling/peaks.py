"""The table of devices in `peaks.yaml` in; devices by id, prefix or the name that a driver gives out."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal

from pydantic import Field

from forwardbook.errors import ForwardbookError
from forwardbook.models.roofline import Device
from forwardbook.schema import Record

STATED_WITHIN: Final = 0.015  # vendors round their figures
# What torch has products summed in, for each format.
ACCUMULATES: Final = {
    **dict.fromkeys(("fp4", "fp8", "bf16", "fp16", "tf32", "fp32"), "fp32"),
    "int8": "int32",
    "fp64": "fp64",
}
PARTS: Final = re.compile(r"\bMIG\b", re.IGNORECASE)  # an instance of a divided GPU has a share of its peaks


class UnknownDevice(ForwardbookError):
    """A device that the table does not have; the message lists those it has."""


class Peak(Record):
    """What a device does in one format: products of `format` summed in `accumulate`, on one kind of unit."""

    format: str
    accumulate: str
    unit: Literal["tensor", "vector"]
    rate: int = Field(gt=0)
    dense: float = Field(gt=0)
    sparse: float | None
    fast: bool = False


class PeakRow(Record):
    """One device: its parts, from which every peak follows, and what its vendor states."""

    name: str
    names: tuple[str, ...] = Field(min_length=1)
    match: str
    sms: int = Field(gt=0)
    clock_mhz: int = Field(gt=0)
    fast_clock_mhz: int = 0
    peaks: tuple[Peak, ...]
    bandwidth_gb: float = Field(gt=0)
    memory_gib: float = Field(gt=0)
    note: str = ""
    sources: tuple[str, ...] = Field(min_length=1)

    def computed(self, peak: Peak) -> float:
        """flop/s, dense, from multiprocessors, clock and operations per clock."""
        return self.sms * (self.fast_clock_mhz if peak.fast else self.clock_mhz) * 1e6 * peak.rate

    def device(self, key: str) -> Device:
        """The row as analyses use it: with the dense peaks that the vendor states.

        A format by itself is with the accumulation that torch asks for, 32 bits below fp32; another one is
        named with it, as in `fp16 into fp16`.
        """
        flops: dict[str, float] = {}
        for one in sorted(self.peaks, key=lambda peak: peak.accumulate != ACCUMULATES.get(peak.format)):
            usual = one.accumulate == ACCUMULATES.get(one.format)
            name = one.format if usual else into(one.format, one.accumulate)
            flops[name] = max(flops.get(name, 0.0), float(round(one.dense * 1e12)))
        more = f"; {self.note}" if self.note else ""
        return Device(
            id=key,
            name=self.name,
            flops=flops,
            bandwidth=self.bandwidth_gb * 1e9,
            memory=int(self.memory_gib * 2**30),
            source=f"{self.sources[0]}{more}",
        )


class PeakTable(Record):
    """The file as a whole."""

    version: int
    devices: dict[str, PeakRow]


def into(kind: str, accumulate: str) -> str:
    """The name of a peak whose accumulation is not the usual one."""
    return f"{kind} into {accumulate}"


@lru_cache(maxsize=1)
def table() -> PeakTable:
    """The shipped table."""
    import yaml  # type: ignore[import-untyped]

    text = (files("forwardbook") / "profiling" / "peaks.yaml").read_text(encoding="utf-8")
    return PeakTable.model_validate(yaml.safe_load(text))


def devices() -> list[Device]:
    """All devices of the table."""
    return [row.device(key) for key, row in table().devices.items()]


def devices_named(name: str) -> list[Device]:
    """The devices of that id, whose ids begin so (`h100`), or the one whose driver reports that name.

    Raises:
        UnknownDevice: where there is none; no other device ever stands in.
    """
    rows = table().devices
    if PARTS.search(name):
        raise UnknownDevice(
            f"looking for the device {name}: it is a part of a GPU (MIG), whose peaks are a share that the "
            f"table does not have; the table has {', '.join(rows)}"
        )
    exact = [row.device(key) for key, row in rows.items() if name.strip() in row.names]
    if exact:
        return exact
    wanted = re.sub(r"[\s_]+", "-", name.strip().lower())
    wanted = wanted.removeprefix("nvidia-").removeprefix("geforce-").removeprefix("amd-instinct-")
    if wanted in rows:
        return [rows[wanted].device(wanted)]
    if wanted:
        begun = [row.device(key) for key, row in rows.items() if key.startswith(f"{wanted}-")]
        if begun:
            return begun
    matched = [row.device(key) for key, row in rows.items() if re.search(row.match, name, re.IGNORECASE)]
    if matched:
        return matched[:1]
    near = get_close_matches(wanted, rows, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UnknownDevice(f"looking for the device {name}{hint}; the table has {', '.join(rows)}")
