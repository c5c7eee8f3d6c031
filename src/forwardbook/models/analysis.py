"""What an analysis of a model found: totals of its phases at a point, their times, what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil

from forwardbook.models.architecture import Architecture
from forwardbook.models.memory import Memory
from forwardbook.models.record import ModelCosts, PhaseCosts
from forwardbook.models.roofline import Device, Timing, timings
from forwardbook.models.totals import NAMES, Attention, Numbers, Totals, Widths


@dataclass(frozen=True)
class PhaseAnalysis:
    """One phase: its formulas, their values, the bytes that it needs beside the weights."""

    costs: PhaseCosts
    totals: Totals
    memory: Memory

    @property
    def name(self) -> str:
        """`prefill` or `decode`."""
        return self.totals.phase


@dataclass(frozen=True)
class Analysis:
    """A model at one point."""

    architecture: Architecture
    costs: ModelCosts
    phases: tuple[PhaseAnalysis, ...]
    widths: Widths
    attention: Attention
    devices: tuple[Device, ...] = ()
    agreement: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def weight_bytes(self) -> int:
        """Bytes of all parameters and buffers, each at its width."""
        return self.costs.weight_bytes(self.widths.w_bit)

    @property
    def total(self) -> Numbers:
        """All phases added up: one call of each."""
        whole = Numbers()
        for phase in self.phases:
            whole = whole + phase.totals.total
        return whole

    def times(self, phase: PhaseAnalysis) -> dict[str, list[Timing]]:
        """For each device the time of every row."""
        return {device.id: timings(phase.totals, device) for device in self.devices}


def report(analysis: Analysis) -> dict[str, object]:
    """The analysis as JSON: every count and every number of bytes an integer."""
    costs = analysis.costs
    return {
        "model_id": analysis.architecture.model_id,
        "model_class": analysis.architecture.model_class,
        "source": analysis.architecture.source,
        "config_digest": costs.config_digest,
        "parameter_count": costs.parameter_count,
        "weight_bytes": analysis.weight_bytes,
        "buffer_elements": costs.buffer_elements,
        "buffer_bytes": costs.buffer_bytes,
        "widths": {name: getattr(analysis.widths, name) for name in ("w_bit", "a_bit", "kv_bit")},
        "attention": analysis.attention,
        "total": analysis.total.whole(),
        "phases": {phase.name: _phase(analysis, phase) for phase in analysis.phases},
        "module_database": dict(analysis.agreement),
        "notes": list(analysis.notes),
        "versions": dict(costs.versions),
        "rules_version": costs.rules_version,
    }


def _phase(analysis: Analysis, phase: PhaseAnalysis) -> dict[str, object]:
    times = analysis.times(phase)
    costs, totals = phase.costs, phase.totals
    layers = [
        {
            "name": row.name,
            "class": row.class_name,
            "times": row.times,
            "depth": row.depth,
            "one_call": row.one.whole(),
            "own": row.own.whole(),
            "total": row.one.times(row.times).whole(),
            "seconds": {key: _seconds(found[index]) for key, found in times.items()},
        }
        for index, row in enumerate(totals.rows)
    ]
    return {
        "sizes": dict(totals.sizes),
        "attention": totals.attention,
        "masks_of_unknown_shape": list(totals.unknown_masks),
        "total": totals.total.whole(),
        "cache_bytes_before": ceil(totals.cache),
        "cache_bytes_after": ceil(phase.memory.cache),
        "activation_bytes": ceil(phase.memory.activations),
        "memory_bytes": analysis.weight_bytes + ceil(phase.memory.total),
        "arithmetic_intensity": intensity_of(totals.total),
        "formulas": {name: getattr(costs.model.costs, name) for name in NAMES},
        "conditions": costs.conditions,
        "assumptions": costs.assumptions,
        "unresolved": [one.model_dump(mode="json") for one in costs.unresolved],
        "proof": {
            "verdict": costs.proof.verdict,
            "device": costs.proof.device,
            "dtype": costs.proof.dtype,
            "points": [point.model_dump(mode="json") for point in costs.proof.points],
            "judges": [judge.model_dump(mode="json") for judge in costs.proof.judges],
        },
        "devices": {device.id: _device(analysis, device, times[device.id][0]) for device in analysis.devices},
        "classes": {name: numbers.whole() for name, numbers in totals.by_class().items()},
        "layers": layers,
    }


def _device(analysis: Analysis, device: Device, found: Timing) -> dict[str, object]:
    return {
        "name": device.name,
        "format": device.format_for(analysis.widths),
        "flops_per_second": device.peak(analysis.widths),
        "bytes_per_second": device.bandwidth,
        **_seconds(found),
        "eager_bound": found.bound,
        "fused_bound": found.fused_bound,
    }


def _seconds(found: Timing) -> dict[str, object]:
    return {"eager": found.eager, "fused": found.fused, "bound": found.bound}


def intensity_of(numbers: Numbers) -> float | None:
    """flops for each byte read or written; none where nothing moves."""
    return float(numbers.flops / numbers.moved) if numbers.moved else None
