"""What `compare` and `advise` do: requests in; a table or JSON printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.cli.cost_view import scaled
from forwardbook.cli.model_run import progress
from forwardbook.cli.model_view import BOUND_STYLES, duration
from forwardbook.cli.printing import put
from forwardbook.cli.terminal import console
from forwardbook.errors import ForwardbookError
from forwardbook.models.advice import Advice
from forwardbook.models.analysis import Analysis, intensity_of, report
from forwardbook.models.totals import NAMES
from forwardbook.pipeline.model.advise import advise
from forwardbook.pipeline.model.analysis import Request, analyse, checked
from forwardbook.profiling.peaks import devices
from forwardbook.workspace import Workspace
from forwardbook.workspace.model_files import ModelFiles


def run_compare(requests: Sequence[Request], as_json: bool) -> None:
    """All models at the same point, the first as the measure of the others."""
    kept = ModelFiles(Workspace.find().root)
    problems: list[tuple[str, ForwardbookError]] = []
    found: list[Analysis] = []
    with progress() as told:
        for request in requests:
            try:
                found.append(analyse(checked(request, kept, told)))
            except ForwardbookError as error:
                problems.append((request.model, error))
    if problems:
        raise type(problems[0][1])(_told(problems, len(requests)))
    if as_json:
        put(json.dumps({"models": [report(one) for one in found]}, indent=1))
    else:
        console().print(_comparison(found))


def _told(problems: Sequence[tuple[str, ForwardbookError]], asked: int) -> str:
    """Every problem once; of one that not all models have, which have it."""
    models: dict[str, list[str]] = {}
    for name, problem in problems:
        models.setdefault(str(problem), []).append(name)
    return "\n".join(
        text if len(names) == asked or names[0] in text else f"{', '.join(names)}: {text}"
        for text, names in models.items()
    )


def _comparison(found: Sequence[Analysis]) -> RenderableType:
    parts: list[RenderableType] = []
    for index in range(min(len(one.phases) for one in found)):  # decode is last, and not all may have one
        phase = found[0].phases[index]
        sizes = ", ".join(f"{name} {size}" for name, size in phase.totals.sizes.items())
        parts += [Text.assemble((phase.name, "bold underline"), f"  {sizes}; attention {found[0].attention}")]
        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("")
        for place, one in enumerate(found):
            table.add_column(one.architecture.model_id, justify="right")
            if place:
                table.add_column("times", justify="right")
        for name, unit, values in _quantities(found, index):
            cells = [_amount(values[0], unit)]
            for value in values[1:]:
                cells += [_amount(value, unit)]
                cells += [f"{value / values[0]:.3g}" if values[0] else ""]
            table.add_row(name, *cells)
        parts += [table, ""]
    notes = dict.fromkeys(note for one in found for note in one.notes)
    return Group(*parts, *(Text(f"note: {note}", "yellow") for note in notes))


def _amount(value: float, unit: tuple[int, str]) -> str:
    step, name = unit
    if name == "s":
        return duration(value)
    return scaled(int(value), step, name) if step else f"{value:,.1f}"


def _quantities(found: Sequence[Analysis], index: int) -> Iterator[tuple[str, tuple[int, str], list[float]]]:
    yield "parameters", (1000, ""), [one.costs.parameter_count for one in found]
    yield "weights", (1024, "B"), [one.weight_bytes for one in found]
    for name in NAMES:
        unit = (1000, "flop" if name == "flops" else "op") if name in NAMES[:2] else (1024, "B")
        if name != "weights":
            yield name, unit, [one.phases[index].totals.total.whole()[name] for one in found]
    yield "cache", (1024, "B"), [ceil(one.phases[index].memory.cache) for one in found]
    needs = [one.weight_bytes + ceil(one.phases[index].memory.total) for one in found]
    yield "memory", (1024, "B"), [*needs]
    yield "flop/B", (0, ""), [intensity_of(one.phases[index].totals.total) or 0 for one in found]
    for device in found[0].devices:
        times = [one.times(one.phases[index])[device.id][0] for one in found]
        yield f"{device.id} eager", (0, "s"), [time.eager for time in times]
        yield f"{device.id} fused", (0, "s"), [time.fused for time in times]


def run_advise(request: Request, as_json: bool) -> None:
    """What fits each device, by default each of the table."""
    if not request.devices:
        request = replace(request, devices=tuple(device.id for device in devices()))
    kept = ModelFiles(Workspace.find().root)
    with progress() as told:
        asked = checked(request, kept, told)
        found = advise(asked)
    if as_json:
        put(
            json.dumps({"model_id": asked.model.architecture.model_id, "advice": [_json(a) for a in found]})
        )
        return
    model = asked.model.architecture.model_id
    console().print(_advice(model, request, found))


def _json(one: Advice) -> dict[str, object]:
    return {
        "device": one.device.id,
        "device_memory_bytes": one.device.memory,
        "weight_bytes": one.weight_bytes,
        "weights_fit": one.weight_bytes <= one.device.memory,
        "context": one.context,
        "batch_size": one.batch,
        "largest_batch_size": one.largest_batch,
        "largest_context": one.largest_context,
        "largest_context_by_batch_size": {str(batch): context for batch, context in one.frontier},
        "phases": {
            speed.phase: {
                "bound": speed.bound,
                "fused_bound": speed.fused_bound,
                "eager_seconds": speed.eager,
                "fused_seconds": speed.fused,
            }
            for speed in one.speeds
        },
        "limits": list(one.limits),
    }


def _advice(model: str, request: Request, found: Sequence[Advice]) -> RenderableType:
    first = found[0]
    bits = request.bits
    heading = Text.assemble(
        (model, "bold"),
        f"  weights {bits['w_bit']}, activations {bits['a_bit']}, cache {bits['kv_bit']} bit; "
        f"{scaled(first.weight_bytes, 1024, 'B')} of weights",
    )
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("device")
    table.add_column("memory", justify="right")
    grows = any(one.frontier for one in found)
    table.add_column(f"largest batch\nat {first.context}" if grows else "largest batch", justify="right")
    if grows:
        table.add_column(f"largest context\nat batch {first.batch}", justify="right")
    phases = [speed.phase for speed in first.speeds]
    for phase in phases:
        table.add_column(f"{phase}\neager, fused", justify="right")
        table.add_column("\nbound")
    for one in found:
        cells: list[RenderableType] = [one.device.id, scaled(one.device.memory, 1024, "B")]
        cells += [_count(one.largest_batch), *([_count(one.largest_context)] if grows else [])]
        for speed in one.speeds:
            bounds = (
                speed.bound if speed.bound == speed.fused_bound else f"{speed.bound}, {speed.fused_bound}"
            )
            cells += [
                f"{duration(speed.eager)}, {duration(speed.fused)}",
                Text(bounds, BOUND_STYLES[speed.bound]),
            ]
        table.add_row(*cells)
    parts: list[RenderableType] = [heading, "", table]
    if len(found) == 1 and first.frontier:
        pairs = ", ".join(f"{batch}: {context:,}" for batch, context in first.frontier)
        parts += ["", Text(f"largest context by batch size: {pairs}")]
    parts += [
        "",
        Text("weights, one cache and activations at their fullest; nothing kept back for the driver", "dim"),
    ]
    limits = dict.fromkeys(limit for one in found for limit in one.limits)
    return Group(*parts, *(Text(f"note: {limit}", "yellow") for limit in limits))


def _count(number: int) -> Text:
    return Text(f"{number:,}") if number else Text("none", "red")
