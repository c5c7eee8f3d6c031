"""The analysis of a model in; its rows as CSV, and the whole as a Markdown page, out."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from math import ceil

from forwardbook.models.analysis import Analysis, PhaseAnalysis, intensity_of
from forwardbook.models.totals import NAMES

LARGEST = 12


def analysis_csv(analysis: Analysis) -> str:
    """One row for each layer and phase: quantities of one call, and what its own forward() adds."""
    own = [f"own_{name}" for name in NAMES if name != "peak"]
    devices = [f"seconds_{kind}_{device.id}" for device in analysis.devices for kind in ("eager", "fused")]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", "phase", "layer", "class", "calls", "depth", *NAMES, *own, *devices])
    for phase in analysis.phases:
        times = analysis.times(phase)
        for index, row in enumerate(phase.totals.rows):
            one, mine = row.one.whole(), row.own.whole()
            seconds = [
                getattr(times[device.id][index], kind)
                for device in analysis.devices
                for kind in ("eager", "fused")
            ]
            name = analysis.architecture.model_id
            writer.writerow(
                [name, phase.name, row.name, row.class_name, row.times, row.depth]
                + [one[quantity] for quantity in NAMES]
                + [mine[quantity] for quantity in NAMES if quantity != "peak"]
                + [f"{second:.9g}" for second in seconds]
            )
    return text.getvalue()


def analysis_page(analysis: Analysis, pictures: tuple[str, ...] = ()) -> str:
    """The analysis as a page of Markdown."""
    one = analysis.widths
    lines = [
        f"# Costs of {analysis.architecture.model_id}",
        "",
        f"`{analysis.architecture.model_class}`, {analysis.costs.parameter_count:,} parameters, "
        f"{analysis.weight_bytes:,} bytes of weights. Weights {one.w_bit}, activations {one.a_bit}, "
        f"cache {one.kv_bit} bits; attention {analysis.attention}.",
        "",
    ]
    for phase in analysis.phases:
        lines += _phase(analysis, phase)
    for picture in pictures:
        lines += [f"![{picture.rpartition('.')[0].replace('_', ' ')}]({picture})", ""]
    lines += [f"Note: {note}.\n" for note in analysis.notes]
    if told := analysis.agreement.get("told"):
        lines += [f"Module database: {told}.", ""]
    versions = ", ".join(f"{name} {text}" for name, text in analysis.costs.versions.items())
    lines += [f"Config {analysis.costs.config_digest}; {versions}.", ""]
    return "\n".join(lines)


def _phase(analysis: Analysis, phase: PhaseAnalysis) -> Iterator[str]:
    sizes = ", ".join(f"{name} = {size:,}" for name, size in phase.totals.sizes.items())
    yield from (f"## {phase.name.capitalize()}: {sizes}", "")
    formulas = phase.costs.model.costs
    yield from ("| Quantity | Value | Formula |", "|---|---:|---|")
    for name, value in phase.totals.total.whole().items():
        yield f"| {name} | {value:,} | `{getattr(formulas, name)}` |"
    yield f"| cache after the call | {ceil(phase.memory.cache):,} | |"
    yield f"| memory at the fullest | {analysis.weight_bytes + ceil(phase.memory.total):,} | |"
    yield ""
    if analysis.attention == "executed":
        yield from ("Formulas count attention densely; flops leave out what masks leave out.", "")
    yield from _classes(phase)
    yield from _layers(phase)
    if analysis.devices:
        yield from _devices(analysis, phase)
    proof = phase.costs.proof
    yield f"Proof: {proof.verdict}, {len(proof.points)} runs on {proof.device} in {proof.dtype}."
    yield f"Holds where {', '.join(f'`{one}`' for one in phase.costs.conditions) or 'always'}."
    yield from (f"Assumes {one}." for one in phase.costs.assumptions)
    yield ""


def _classes(phase: PhaseAnalysis) -> Iterator[str]:
    yield from ("### By class", "", "What the forward() of each class adds itself, over all its calls.", "")
    yield from ("| Class | flops | pointwise ops | bytes moved |", "|---|---:|---:|---:|")
    found = sorted(phase.totals.by_class().items(), key=lambda one: (-one[1].flops, -one[1].moved))
    for name, numbers in found:
        yield (
            f"| `{name.rpartition('.')[2]}` | {numbers.flops:,} | {numbers.pointwise_ops:,} | "
            f"{ceil(numbers.moved):,} |"
        )
    yield ""


def _layers(phase: PhaseAnalysis) -> Iterator[str]:
    yield from ("### By layer", "")
    yield "| Layer | Class | Calls | flops | share | bytes moved | flop/B |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    whole = phase.totals.total.flops or 1
    for row in phase.totals.rows:
        numbers = row.one.times(row.times)
        found = intensity_of(numbers)
        yield (
            f"| `{row.name or 'the model'}` | `{row.class_name.rpartition('.')[2]}` | {row.times} | "
            f"{numbers.flops:,} | {numbers.flops / whole:.1%} | {ceil(numbers.moved):,} | "
            f"{'' if found is None else f'{found:,.1f}'} |"
        )
    yield ""


def _devices(analysis: Analysis, phase: PhaseAnalysis) -> Iterator[str]:
    yield from ("### Least time on each device", "")
    yield "`eager`: every operation reads and writes memory. `fused`: only inputs, weights and results move. "
    yield "Both are bounds of the code that was read, not of a server."
    yield ""
    yield from ("| Device | Format | eager ms | bound | fused ms | bound |", "|---|---|---:|---|---:|---|")
    times = analysis.times(phase)
    for device in analysis.devices:
        found = times[device.id][0]
        yield (
            f"| {device.name} | {device.format_for(analysis.widths)} | "
            f"{found.eager * 1e3:,.3f} | {found.bound} | {found.fused * 1e3:,.3f} | {found.fused_bound} |"
        )
    yield ""
