"""`profile hardware`: nothing in; what this machine is and can do at most, printed."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from forwardbook.cli import model_options as options
from forwardbook.cli.printing import put


def hardware(
    measure: Annotated[
        bool, typer.Option("--measure/--no-measure", help="Measure the processor (seconds).")
    ] = True,
    table: Annotated[
        str | None,
        typer.Option("--peaks", help="A GPU's rows of the table of peaks instead; `all` for every."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """What this machine is: processor, GPUs, versions, and what it can do at most."""
    with options.refusing():
        if table is not None:
            put(_table(table, as_json))
            return
        from forwardbook.profiling.machine import machine

        found = machine()
        for gpu in found["gpus"]:
            gpu["peaks"] = _peaks(gpu["name"])
        found["measured"] = _measured() if measure else []
        put(json.dumps(found, indent=1) if as_json else "\n".join(_lines(found)))


def _table(name: str, as_json: bool) -> str:
    """Each peak with the parts that prove it and the vendor's document."""
    from forwardbook.cli.profile_view import table as columns
    from forwardbook.profiling.peaks import devices_named, table

    rows = table().devices
    keys = list(rows) if name == "all" else [one.id for one in devices_named(name)]
    if as_json:
        return json.dumps({key: rows[key].model_dump(mode="json") for key in keys}, indent=1)
    head = (
        "device",
        "format",
        "sums in",
        "unit",
        "SMs",
        "MHz",
        "flop/clock/SM",
        "computed",
        "dense",
        "sparse",
    )
    cells = [
        (
            *(key, peak.format, peak.accumulate, peak.unit, str(rows[key].sms)),
            str(rows[key].fast_clock_mhz if peak.fast else rows[key].clock_mhz),
            f"{peak.rate:,}",
            f"{rows[key].computed(peak) / 1e12:,.1f}",
            f"{peak.dense:,.1f}",
            "none" if peak.sparse is None else f"{peak.sparse:,.1f}",
        )
        for key in keys
        for peak in rows[key].peaks
    ]
    lines = [columns(head, cells, range(4)), "\ncomputed, dense and sparse in Tflop/s (Top/s)"]
    for key in keys:
        row = rows[key]
        lines.append(f"{key}: {row.bandwidth_gb:,} GB/s, {row.memory_gib:g} GiB; {', '.join(row.names)}")
        lines += [f"  {told}" for told in ([row.note] if row.note else []) + list(row.sources)]
    return "\n".join(lines)


def _peaks(name: str) -> dict[str, Any] | None:
    from forwardbook.profiling.peaks import UnknownDevice, devices_named

    try:
        one = devices_named(name)[0]
    except UnknownDevice:
        return None
    return {"id": one.id, "flop_per_second": dict(one.flops), "byte_per_second": one.bandwidth}


def _measured() -> list[dict[str, Any]]:
    from dataclasses import asdict

    from forwardbook.profiling.measured_peak import measure_copy, measure_cpu

    found = [measure_cpu("fp32"), measure_cpu("bf16", 512), measure_copy()]
    return [{**asdict(one), "spread": one.spread, "source": "measured"} for one in found]


def _lines(found: dict[str, Any]) -> list[str]:
    memory = found["memory_bytes"]
    lines = [
        f"processor  {found['processor']}, {found['cores']} cores, {found['cpu_capability']}",
        f"memory     {'unknown' if memory is None else f'{memory / 2**30:.1f} GiB'}",
        f"system     {found['system']} {found['architecture']}, Python {found['python']}",
    ]
    told = ", ".join(f"{name} {version}" for name, version in found["packages"].items() if version)
    lines.append(f"packages   {told}")
    if not found["gpus"]:
        lines.append("GPUs       torch sees none")
    for gpu in found["gpus"]:
        peaks = gpu["peaks"]
        known = "not in the table of peaks: no MFU" if peaks is None else f"in the table as {peaks['id']}"
        lines.append(f"GPU        {gpu['name']}, {gpu['memory_bytes'] / 2**30:.1f} GiB, {known}")
    if not found["nvml"]["available"]:
        lines.append(f"NVML       {found['nvml']['reason']}")
    for one in found["measured"]:
        lines.append(
            f"measured   {one['best'] / 1e9:,.1f} G{one['unit']} at best, {one['median'] / 1e9:,.1f} median, "
            f"spread {one['spread']:.0%} of {one['rounds']}: {one['what']}"
        )
    return lines
