"""An analysis of a model in; what a person reads in the terminal out: totals, layers, devices, the proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.cli.cost_view import scaled
from forwardbook.cli.terminal import verdict_text
from forwardbook.models.analysis import Analysis, PhaseAnalysis, intensity_of
from forwardbook.models.roofline import Timing, ridge, timing
from forwardbook.models.totals import Numbers, Row
from forwardbook.pipeline.model.ensure import Ensured

BAR: Final = 16
BOUND_STYLES: Final = {"compute": "magenta", "bandwidth": "blue", "none": "dim"}
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


def analysis_view(analysis: Analysis) -> RenderableType:
    """The whole analysis."""
    parts: list[RenderableType] = [_heading(analysis)]
    for phase in analysis.phases:
        parts += ["", _phase_line(analysis, phase), "", _totals(analysis, phase)]
        parts += ["", _layers(analysis, phase)]
        if analysis.devices:
            parts += ["", _devices(analysis, phase)]
        parts += ["", _footing(phase)]
    parts += [Text(f"agreement: {text}", "dim") for text in _agreement(analysis)]
    parts += [Text(f"note: {note}", "yellow") for note in analysis.notes]
    return Group(*parts)


def _heading(analysis: Analysis) -> Text:
    count = scaled(analysis.costs.parameter_count, 1000, "").strip().replace("G", "B")
    return Text.assemble(
        (analysis.architecture.model_id, "bold"),
        f"  {analysis.architecture.model_class.rpartition('.')[2]}, {count} parameters, ",
        f"{scaled(analysis.weight_bytes, 1024, 'B')} of weights",
    )


def _phase_line(analysis: Analysis, phase: PhaseAnalysis) -> Text:
    sizes = ", ".join(f"{name} {size}" for name, size in phase.totals.sizes.items())
    one = analysis.widths
    return Text.assemble(
        (phase.name, "bold underline"),
        f"  {sizes}; weights {one.w_bit}, activations {one.a_bit}, cache {one.kv_bit} bit; attention ",
        (analysis.attention, "cyan"),
    )


def _totals(analysis: Analysis, phase: PhaseAnalysis) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(justify="right", style="green")
    table.add_column(style="dim")
    numbers = phase.totals.total.whole()
    told = {
        "flops": "matrix products, a multiply-accumulate counts 2",
        "pointwise_ops": "one for each element of arithmetic, comparison, reduction",
        "reads": "by every operation",
        "writes": "by every operation",
        "boundary": "inputs, weights and results once each: what perfect fusion would still move",
        "peak": "live bytes beyond weights and inputs, eager",
    }
    for name, meaning in told.items():
        step, unit = (1000, "op") if name in ("flops", "pointwise_ops") else (1024, "B")
        unit = "flop" if name == "flops" else unit
        table.add_row(name, f"{numbers[name]:,}", scaled(numbers[name], step, unit), meaning)
    memory = phase.memory
    for name, amount, meaning in (
        ("cache", memory.cache, "keys, values and states when the call has ended"),
        ("memory", analysis.weight_bytes + memory.total, "weights, cache, and activations at their fullest"),
    ):
        table.add_row(name, f"{ceil(amount):,}", scaled(ceil(amount), 1024, "B"), meaning)
    found = intensity_of(phase.totals.total)
    said = "" if found is None else f"{found:,.1f}"
    table.add_row("intensity", said, "flop/B", "flops by reads and writes")
    return table


def _layers(analysis: Analysis, phase: PhaseAnalysis) -> Table:
    """One line for each layer, indented; shares are of all its calls in the whole."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    times = _first_times(analysis, phase)
    table.add_column("layer", no_wrap=True)
    table.add_column("calls", justify="right")
    table.add_column("flops", justify="right")
    table.add_column("share", no_wrap=True)
    table.add_column("moved", justify="right")
    table.add_column("flop/B", justify="right")
    if times:
        table.add_column(analysis.devices[0].id, justify="right")
        table.add_column("bound")
    whole = phase.totals.total
    for index, row in enumerate(phase.totals.rows):
        table.add_row(*_layer(analysis.architecture.model_id, row, whole, times[index] if times else None))
        # what the layer's own forward() computes between its parts
        if row.own.flops and row.own.flops != row.one.flops:
            table.add_row(*_own(analysis, row, whole))
    return table


def _layer(model_id: str, row: Row, whole: Numbers, time: Timing | None) -> Iterator[RenderableType]:
    numbers = row.one.times(row.times)
    name = row.label or model_id
    yield Text.assemble(
        "  " * row.depth, (name, "bold" if row.depth < 2 else ""), (f"  {_short(row)}", "dim")
    )
    yield f"{row.times}" if row.times > 1 else ""
    yield scaled(ceil(numbers.flops), 1000, "") if numbers.flops else ""
    yield bar(numbers.flops, whole.flops)
    yield scaled(ceil(numbers.moved), 1024, "B") if numbers.moved else ""
    found = intensity_of(numbers)
    yield f"{found:,.1f}" if found else ""
    if time is not None:
        yield duration(time.eager * row.times)
        bound = time.bound
        yield Text(bound if bound != "none" else "", BOUND_STYLES[bound])


def _own(analysis: Analysis, row: Row, whole: Numbers) -> Iterator[RenderableType]:
    numbers = row.own.times(row.times)
    yield Text.assemble("  " * (row.depth + 1), ("its own operations", "italic dim"))
    yield f"{row.times}" if row.times > 1 else ""
    yield scaled(ceil(numbers.flops), 1000, "")
    yield bar(numbers.flops, whole.flops)
    yield scaled(ceil(numbers.moved), 1024, "B")
    found = intensity_of(numbers)
    yield f"{found:,.1f}" if found else ""
    if analysis.devices:
        time = timing(numbers, analysis.devices[0], analysis.widths)
        yield duration(time.eager)
        yield Text(time.bound, BOUND_STYLES[time.bound])


def _short(row: Row) -> str:
    return row.class_name.rpartition(".")[2]


def _first_times(analysis: Analysis, phase: PhaseAnalysis) -> list[Timing]:
    return analysis.times(phase)[analysis.devices[0].id] if analysis.devices else []


def _devices(analysis: Analysis, phase: PhaseAnalysis) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    table.caption, table.caption_justify = "bounds of the code that was read, not of a server", "left"
    table.add_column("device")
    for name in ("format", "Tflop/s", "GB/s", "ridge flop/B", "eager", "bound", "fused", "bound", "fits"):
        table.add_column(name, justify="left" if name in ("format", "bound", "fits") else "right")
    times = analysis.times(phase)
    need = analysis.weight_bytes + phase.memory.total
    for device in analysis.devices:
        found = times[device.id][0]
        table.add_row(
            device.id,
            device.format_for(analysis.widths),
            f"{device.peak(analysis.widths) / 1e12:,.1f}",
            f"{device.bandwidth / 1e9:,.0f}",
            f"{float(ridge(device, analysis.widths)):,.0f}",
            duration(found.eager),
            Text(found.bound, BOUND_STYLES[found.bound]),
            duration(found.fused),
            Text(found.fused_bound, BOUND_STYLES[found.fused_bound]),
            Text("yes", "green") if need <= device.memory else Text(_of(need, device.memory), "red"),
        )
    return table


def _of(need: Fraction, memory: int) -> str:
    return f"no, {float(need / memory):.1f} times its memory"


def _footing(phase: PhaseAnalysis) -> Text:
    proof = phase.costs.proof
    points = len(proof.points)
    layers = proof.points[0].layers if proof.points else 0
    text = Text.assemble(
        "proof ",
        verdict_text(proof.verdict),
        f": {points} runs on {proof.device} in {proof.dtype} at random sizes, {layers} layers each"
        if points > 1
        else f": a run on {proof.device} in {proof.dtype} at these sizes, {layers} layers",
    )
    text.append(f"\nholds where {', '.join(phase.costs.conditions) or 'always'}", "dim")
    for one in phase.costs.assumptions:
        text.append(f"\nassumes {one}", "dim")
    for hole in phase.costs.unresolved:
        text.append(f"\nunknown: {hole.operation} ({hole.file}:{hole.line}): {hole.reason}", "red")
    return text


def _agreement(analysis: Analysis) -> list[str]:
    told = analysis.agreement.get("told")
    return [str(told)] if told else []


def bar(part: int | Fraction, whole: int | Fraction) -> Text:
    """A share as a bar and a percentage; nothing for nothing."""
    if not part or not whole:
        return Text("")
    share = float(Fraction(part) / Fraction(whole))
    full, rest = divmod(round(share * BAR * 8), 8)
    drawn = "█" * full + (_EIGHTHS[rest] if rest else "")
    return Text.assemble((f"{drawn:<{BAR}}", "cyan"), f" {share:6.1%}")


def duration(seconds: float) -> str:
    """`1.25 ms`; nothing for nothing."""
    if not seconds:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:,.2f} {unit}"
    return f"{seconds / 1e-9:,.1f} ns"


def classes_view(ensured: Sequence[Ensured]) -> RenderableType:
    """The classes of a model and where each stands in the module database."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("class", "state", "entry", "verdict", "reason"):
        table.add_column(column, overflow="fold")
    styles = {"known": "green", "analysed": "bold green", "missing": "yellow", "unresolved": "red"}
    for one in ensured:
        state = Text(one.state, styles[one.state])
        name = one.class_name.rpartition(".")[2]
        table.add_row(name, state, one.key, verdict_text(one.verdict), Text(one.reason, "dim"))
    counts = Counter(one.state for one in ensured)
    told = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
    return Group(table, "", Text(f"{len(ensured)} classes: {told}"))
