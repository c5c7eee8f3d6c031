"""The table of devices: every figure follows from its parts, and names lead to the right row."""

import re
from contextlib import closing
from pathlib import Path

import pytest

from forwardbook.models.roofline import Device
from forwardbook.models.totals import Widths
from forwardbook.profiling.peaks import (
    ACCUMULATES,
    STATED_WITHIN,
    Peak,
    UnknownDevice,
    devices,
    devices_named,
    table,
)

PEAKS = [(key, peak) for key, row in table().devices.items() for peak in row.peaks]
NAMES = [(name, key) for key, row in table().devices.items() for name in row.names]
RECORDED = Path(__file__).parents[1] / "profiles" / "sqlite" / "nways_jacobi_gh200.min.sqlite.gz"


@pytest.mark.parametrize(("key", "peak"), PEAKS, ids=lambda one: one if isinstance(one, str) else one.format)
def test_peak_follows_from_its_parts(key: str, peak: Peak) -> None:
    """Multiprocessors times clock times operations per clock is what the vendor states, half of sparse."""
    found = table().devices[key].computed(peak) / 1e12

    assert found == pytest.approx(peak.dense, rel=STATED_WITHIN)
    assert peak.sparse is None or 2 * found == pytest.approx(peak.sparse, rel=STATED_WITHIN)


def test_rows_are_whole() -> None:
    """Each peak is there once, each format has the accumulation of torch, each row the vendor's documents."""
    for row in table().devices.values():
        keys = [(one.format, one.accumulate, one.unit) for one in row.peaks]
        usual = {one.format for one in row.peaks if one.accumulate == ACCUMULATES[one.format]}

        assert len(set(keys)) == len(keys)
        assert {one.format for one in row.peaks} == usual
        assert bool(row.fast_clock_mhz) == any(one.fast for one in row.peaks)
        assert all(
            url.startswith(("https://www.", "https://images.", "https://resources.")) for url in row.sources
        )


@pytest.mark.parametrize(("name", "key"), NAMES)
def test_names_lead_to_their_row_alone(name: str, key: str) -> None:
    """What a driver reports is the name of one row, and no other row's pattern fits it."""
    fitting = [other for other, row in table().devices.items() if re.search(row.match, name, re.IGNORECASE)]

    assert ([key], [key]) == (fitting, [device.id for device in devices_named(name)])


def test_accumulating_in_fewer_bits_is_another_peak() -> None:
    """On cards for games sums in 16 bits run twice as fast; the format by itself means sums in 32 bits."""
    flops = devices_named("rtx-4090")[0].flops

    assert (165_200_000_000_000, 330_300_000_000_000) == (flops["fp16"], flops["fp16 into fp16"])


def test_doubles_have_two_units() -> None:
    """Tensor cores do twice the doubles of the vector pipes, and products run on them."""
    row = table().devices["h100-sxm"]

    assert {66.9, 33.5} == {peak.dense for peak in row.peaks if peak.format == "fp64"}
    assert 66_900_000_000_000 == row.device("h100-sxm").flops["fp64"]


def test_a_recorded_report_says_the_same(tmp_path: Path) -> None:
    """A GH200 told nsys its multiprocessors, clock and bandwidth; the table has them."""
    import gzip
    import sqlite3

    path = tmp_path / "x.sqlite"
    path.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    with closing(sqlite3.connect(path)) as base:
        asked = "select name, smCount, clockRate, memoryBandwidth from TARGET_INFO_GPU"
        name, sms, clock, bandwidth = base.execute(asked).fetchone()
    [found] = [row for row in table().devices.values() if name in row.names]

    assert (sms, clock / 1e6) == (found.sms, found.fast_clock_mhz)
    assert bandwidth == pytest.approx(found.bandwidth_gb * 1e9, rel=STATED_WITHIN)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NVIDIA H100 80GB HBM3", ["h100-sxm"]),
        ("NVIDIA H100 PCIe", ["h100-pcie"]),
        ("NVIDIA H100 NVL", ["h100-nvl"]),
        ("NVIDIA A100-SXM4-80GB", ["a100-80gb-sxm"]),
        ("NVIDIA A100-SXM4-40GB", ["a100-40gb"]),
        ("NVIDIA A100-PCIE-40GB", ["a100-40gb"]),
        ("NVIDIA A100 80GB PCIe", ["a100-80gb-pcie"]),
        ("NVIDIA GeForce RTX 4090", ["rtx-4090"]),
        ("NVIDIA L4", ["l4"]),
        ("NVIDIA L40S", ["l40s"]),
        ("Tesla T4", ["t4"]),
        ("Tesla V100-SXM2-16GB", ["v100-sxm2"]),
        ("NVIDIA A10", ["a10"]),
        ("NVIDIA H200", ["h200"]),
        ("AMD Instinct MI300X", ["mi300x"]),
        ("H100", ["h100-sxm", "h100-pcie", "h100-nvl"]),
        ("rtx 3090", ["rtx-3090"]),
    ],
)
def test_names_of_drivers_lead_to_their_row(name: str, expected: list[str]) -> None:
    """What `get_device_name` reports, an id or the beginning of one names its devices."""
    assert expected == [device.id for device in devices_named(name)]


@pytest.mark.parametrize(
    "name",
    [
        *("A100X", "H800", "", "RTX 4090 D", "NVIDIA L400", "GTX 1080", "NVIDIA A10G", "NVIDIA H200 NVL"),
        *("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA H100 80GB HBM3 MIG 3g.40gb", "NVIDIA GH200 144G HBM3e"),
        *(
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "NVIDIA GB200",
            "Tesla V100-SXM3-32GB",
            "NVIDIA A100-PG509-200",
        ),
    ],
)
def test_unknown_devices_are_refused(name: str) -> None:
    """No device stands in for another."""
    with pytest.raises(UnknownDevice, match="the table has"):
        devices_named(name)


def test_format_is_the_narrowest_that_holds_both_operands() -> None:
    """4-bit weights with 16-bit activations compute in 16 bits; without fp8, 8 bits compute in int8."""
    by_id: dict[str, Device] = {device.id: device for device in devices()}

    assert "bf16" == by_id["h100-sxm"].format_for(Widths(w_bit=4, a_bit=16))
    assert "fp8" == by_id["h100-sxm"].format_for(Widths(w_bit=8, a_bit=8))
    assert "int8" == by_id["a100-40gb"].format_for(Widths(w_bit=8, a_bit=4))
    assert "fp16" == by_id["t4"].format_for(Widths(w_bit=16, a_bit=16))
    assert "fp32" == by_id["l4"].format_for(Widths(w_bit=32, a_bit=32))
    assert "fp16" == by_id["v100-pcie"].format_for(Widths(w_bit=8, a_bit=8))
