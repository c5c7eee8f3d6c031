"""The table of devices: every figure follows from its parts, and names lead to the right row."""

import pytest

from forwardbook.models.roofline import Device
from forwardbook.models.totals import Widths
from forwardbook.profiling.peaks import STATED_WITHIN, UnknownDevice, devices, devices_named, table

FIGURES = [(key, kind) for key, row in table().devices.items() for kind in row.tflops]


@pytest.mark.parametrize(("key", "kind"), FIGURES)
def test_peak_follows_from_its_parts(key: str, kind: str) -> None:
    """Multiprocessors times clock times operations per clock is what the vendor states."""
    row = table().devices[key]

    assert row.computed(kind) == pytest.approx(row.tflops[kind] * 1e12, rel=STATED_WITHIN)


def test_rows_are_whole() -> None:
    """Every stated figure has a rate and every rate a figure."""
    assert [k for k, row in table().devices.items() if set(row.rates) != set(row.tflops)] == []


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


@pytest.mark.parametrize("name", ["A100X", "H800", "", "RTX 4090 D", "NVIDIA L400", "GTX 1080"])
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
