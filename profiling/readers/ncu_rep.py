"""A `.ncu-rep` file in, read with NVIDIA's `ncu_report` where that is installed; launches, as of CSV, out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forwardbook.profiling.readers.kernels import Launch, Metric
from forwardbook.profiling.readers.ncu_csv import NcuReport
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable
from forwardbook.profiling.readers.units import base_unit, number


def read_ncu_rep(path: Path) -> NcuReport:
    """All launches of a report.

    Raises:
        ReportUnreadable: where `ncu_report` is not installed, or refuses the file.
        NothingCaptured: for a report without a launch.
    """
    try:
        import ncu_report  # type: ignore[import-not-found]
    except ImportError as error:
        raise ReportUnreadable(
            path.name,
            "reading .ncu-rep needs the package ncu-report",
            "pip install 'forwardbook[ncu]', or: LC_ALL=C ncu --import FILE.ncu-rep --csv --page raw",
        ) from error
    try:
        context = ncu_report.load_report(str(path))
    except Exception as error:
        raise ReportUnreadable(path.name, f"ncu_report refuses it: {error}") from error
    if context is None:
        raise ReportUnreadable(path.name, "ncu_report finds no report in it")
    launches = tuple(_launches(context, ncu_report))
    if not launches:
        raise NothingCaptured(path.name, "profiled kernel")
    return NcuReport(path.name, launches)


def _launches(context: Any, library: Any) -> Iterator[Launch]:
    index = 0
    for place in range(context.num_ranges()):
        profiled = context.range_by_idx(place)
        for number_ in range(profiled.num_actions()):
            yield _launch(profiled.action_by_idx(number_), index, library)
            index += 1


def _launch(action: Any, index: int, library: Any) -> Launch:
    metrics: dict[str, Metric] = {}
    for name in action.metric_names():
        found = _metric(action.metric_by_name(name), name)
        if found is not None:
            metrics[name] = found
    read = {name: metric.value for name, metric in metrics.items()}
    return Launch(
        id=index,
        name=str(action.name(library.IAction.NameBase_DEMANGLED)),
        metrics=metrics,
        mangled=str(action.name(library.IAction.NameBase_MANGLED)),
        grid=_dim3(read, "launch__grid_dim"),
        block=_dim3(read, "launch__block_dim"),
        compute_capability=_capability(read),
        ranges=_ranges(action),
    )


def _metric(metric: Any, name: str) -> Metric | None:
    """A counter with a number; texts and tables of instances are not counters."""
    from decimal import Decimal

    value = metric.value() if metric is not None else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    unit, factor = base_unit(str(metric.unit() or ""))
    scaled = value if factor == 1 else number(Decimal(repr(value)) * factor)
    return Metric(name, scaled, unit)


def _dim3(read: dict[str, int | float | None], stem: str) -> tuple[int, int, int] | None:
    parts = [read.get(f"{stem}_{axis}") for axis in "xyz"]
    x, y, z = parts
    return None if x is None or y is None or z is None else (int(x), int(y), int(z))


def _capability(read: dict[str, int | float | None]) -> str | None:
    major = read.get("device__attribute_compute_capability_major")
    minor = read.get("device__attribute_compute_capability_minor")
    return None if major is None or minor is None else f"{int(major)}.{int(minor)}"


def _ranges(action: Any) -> tuple[str, ...]:
    state = action.nvtx_state()
    if state is None:
        return ()
    found: list[str] = []
    for domain_id in state.domains():
        domain = state.domain_by_id(domain_id)
        label = str(domain.name())
        names = [str(name) for name in domain.push_pop_ranges()]
        found += names if label in ("", "<default domain>") else [f"{label}@{name}" for name in names]
    return tuple(found)
