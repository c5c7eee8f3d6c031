"""The table of devices in `peaks.yaml` in; devices by id, prefix or the name that a driver gives out."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Final

from pydantic import Field

from forwardbook.errors import ForwardbookError
from forwardbook.models.roofline import Device
from forwardbook.schema import Record

STATED_WITHIN: Final = 0.015  # vendors round their figures


class UnknownDevice(ForwardbookError):
    """A device that the table does not have; the message lists those it has."""


class PeakRow(Record):
    """One device: its parts, from which every peak follows, and what its vendor states."""

    name: str
    match: str
    sms: int = Field(gt=0)
    clock_mhz: int = Field(gt=0)
    rates: dict[str, int]
    tflops: dict[str, float]
    vector: tuple[str, ...] = ()
    vector_clock_mhz: int = 0
    bandwidth_gb: float = Field(gt=0)
    memory_gib: float = Field(gt=0)
    source: str

    def computed(self, kind: str) -> float:
        """flop/s of a format from multiprocessors, clock and operations per clock."""
        clock = self.vector_clock_mhz if kind in self.vector else self.clock_mhz
        return self.sms * clock * 1e6 * self.rates[kind]

    def device(self, key: str) -> Device:
        """The row as analyses use it: with the peaks that the vendor states."""
        return Device(
            id=key,
            name=self.name,
            flops={kind: tera * 1e12 for kind, tera in self.tflops.items()},
            bandwidth=self.bandwidth_gb * 1e9,
            memory=int(self.memory_gib * 2**30),
            source=self.source,
        )


class PeakTable(Record):
    """The file as a whole."""

    version: int
    devices: dict[str, PeakRow]


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
    raise UnknownDevice(f"looking for the device {name}: the table has {', '.join(rows)}")
