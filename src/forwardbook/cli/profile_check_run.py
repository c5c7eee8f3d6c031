"""A trace, perhaps a model and counters in; the check printed, and whether all is equal, out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forwardbook.cli.printing import put, say
from forwardbook.cli.profile_view import check_lines, work_lines
from forwardbook.pipeline.profile.chain import chain
from forwardbook.pipeline.profile.check import TraceCheck, check_trace, refuse_without_shapes
from forwardbook.pipeline.profile.counters import CounterCheck, check_counters, counter_lines
from forwardbook.profiling.kernel_analysis import analyse_folder
from forwardbook.profiling.peaks import UnknownDevice, devices_named
from forwardbook.profiling.readers.torch_trace import TorchTrace, read_torch_trace
from forwardbook.profiling.trace_work import work_of

if TYPE_CHECKING:
    from forwardbook.models.roofline import Device
    from forwardbook.pipeline.model.analysis import Request


def run_check(
    path: Path,
    request: Request | None,
    ncu: Path | None,
    hardware: str | None,
    allowed: Sequence[str] = (),
    *,
    as_json: bool,
) -> bool:
    """Whether everything that can be held against a formula is equal; without a model nothing is held."""
    trace = read_torch_trace(path)
    launches = analyse_folder(ncu).kernels if ncu is not None else ()
    work = work_of(trace)
    if request is None:
        counters = check_counters(launches, work.groups)
        if as_json:
            groups = [vars_of(group) for group in work.groups]
            put(json.dumps({"groups": groups, "unsaid": [vars_of(one) for one in work.unsaid]}, indent=1))
        else:
            put("\n".join([*work_lines(work), *counter_lines(counters)]))
        return all(one.explained for one in counters)
    refuse_without_shapes(trace)
    from forwardbook.models.totals import Widths
    from forwardbook.pipeline.model.find import changed, find_model
    from forwardbook.pipeline.model.pipeline import Model
    from forwardbook.workspace.model_files import ModelFiles

    kept = ModelFiles(Path.cwd())
    found = changed(find_model(request.model, kept), request.fields)
    model = Model(found, kept, say)
    check = check_trace(trace, model, request.sizes, Widths(**request.bits), allowed)
    counters = check_counters(launches, [one for link in check.links for one in link.found], work.groups)
    if as_json:
        put(json.dumps(as_values(check, counters), indent=1))
    else:
        put(
            "\n".join(
                [*check_lines(check, device_of(trace, hardware), counters), *counter_lines(counters)]
            )
        )
    return check.exact and all(one.explained for one in counters)


def device_of(trace: TorchTrace, hardware: str | None) -> Device | None:
    """The device that was named, or that the trace names; an unknown one of a trace gives no peak."""
    if hardware is not None:
        return devices_named(hardware)[0]
    try:
        return next((devices_named(name)[0] for name in trace.devices if name), None)
    except UnknownDevice:
        return None


def vars_of(value: object) -> dict[str, Any]:
    """The fields of a frozen value, ready for JSON."""
    from dataclasses import asdict

    return asdict(value)  # type: ignore[call-overload, no-any-return]


def as_values(check: TraceCheck, counters: tuple[CounterCheck, ...]) -> dict[str, Any]:
    """The check as JSON has it."""
    return {
        "check_version": 1,
        "trace": check.file,
        "devices": list(check.devices),
        "model": check.model,
        "phase": check.phase,
        "sizes": dict(check.sizes),
        "forwards": check.repeats,
        "exact": check.exact,
        "totals": {
            "_and_".join(kinds): {
                "formulas": sum(map(check.predicted, kinds)),
                "trace": sum(map(check.counted, kinds)),
                "excused_formulas": sum(check.excused(kind)[0] for kind in kinds),
                "excused_trace": sum(check.excused(kind)[1] for kind in kinds),
            }
            for kinds in (("gemm",), ("attention",), ("convolution",), ("gemm", "convolution"))
        },
        "products": [
            {
                "flops": link.flops,
                "calls_said": link.predicted,
                "calls_found": link.calls,
                "verdict": link.verdict,
                "excuse": link.excuse,
                "modules": [vars_of(one) for one in link.expected],
                "operators": [vars_of(one) for one in link.found],
            }
            for link in check.links
        ],
        "chain": [vars_of(row) for row in chain(check.links, counters)],
        "not_said": [vars_of(one) for one in check.unsaid],
        "notes": list(check.notes),
        "counters": [{"text": one.text, "explained": one.explained} for one in counters],
    }
