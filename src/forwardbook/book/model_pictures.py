"""The analysis of a model, or a sweep, in; a picture as bytes out, the same for the same numbers."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from forwardbook.errors import ForwardbookError
from forwardbook.models.analysis import Analysis, PhaseAnalysis
from forwardbook.models.roofline import Device, children
from forwardbook.models.totals import Numbers, Row, Widths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES: Final = (".svg", ".png", ".pdf")
DEVICES: Final = 5
LINES: Final = 8
LABELS: Final = 3
LETTERS: Final = 125  # of the width of a flame graph
COLOURS: Final = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999933", "#bbbbbb")


def analysis_picture(analysis: Analysis, suffix: str) -> bytes:
    """Where flops and bytes go, layer beneath layer, and the layers under the roofs of some devices."""
    figure = _figure(12, 7.5 * len(analysis.phases))
    parts = figure.subfigures(len(analysis.phases), 1, squeeze=False)[:, 0]
    for part, phase in zip(parts, analysis.phases, strict=True):
        left, right = part.subfigures(1, 2, width_ratios=(3, 2))
        upper, lower = left.subplots(2, 1)
        sizes = ", ".join(f"{name} {size}" for name, size in phase.totals.sizes.items())
        part.suptitle(f"{analysis.architecture.model_id}, {phase.name}: {sizes}")
        _flames(upper, phase, "flops")
        _flames(lower, phase, "bytes read and written")
        _roofline(right.subplots(), analysis, phase)
    return _bytes(figure, suffix)


def cost_picture(analysis: Analysis, suffix: str) -> bytes:
    """Flame graphs of flops and of bytes, for each phase."""
    figure = _figure(11, 5.5 * len(analysis.phases))
    axes = figure.subplots(2 * len(analysis.phases), 1)
    for index, phase in enumerate(analysis.phases):
        _flames(axes[2 * index], phase, "flops")
        _flames(axes[2 * index + 1], phase, "bytes read and written")
    return _bytes(figure, suffix)


def roofline_picture(analysis: Analysis, suffix: str) -> bytes:
    """The roofline with the layers of each phase."""
    figure = _figure(8, 5 * len(analysis.phases))
    axes = figure.subplots(len(analysis.phases), 1, squeeze=False)[:, 0]
    for one, phase in zip(axes, analysis.phases, strict=True):
        _roofline(one, analysis, phase)
    return _bytes(figure, suffix)


def sweep_picture(
    table: Mapping[str, Sequence[object]], devices: Sequence[Device], widths: Widths, suffix: str
) -> bytes:
    """Flops, memory, and the least time where there are devices, over the size with the most values."""
    seconds = [f"seconds_eager_{device.id}" for device in devices[:1]]
    shown = ["flops", "memory", *seconds]
    phases = list(dict.fromkeys(table["phase"]))
    figure = _figure(4.5 * len(shown), 3.8 * len(phases))
    axes = figure.subplots(len(phases), len(shown), squeeze=False)
    for row, phase in zip(axes, phases, strict=True):
        rows = [i for i, found in enumerate(table["phase"]) if found == phase]
        part = {name: [column[i] for i in rows] for name, column in table.items()}
        for one, name in zip(row, shown, strict=True):
            _lines(one, part, name)
            for device in devices[:3] if name == "memory" else ():
                one.axhline(device.memory, color="grey", linestyle=":", linewidth=0.8)
                one.annotate(device.id, (0.02, device.memory), xycoords=one.get_yaxis_transform(), fontsize=6)
    return _bytes(figure, suffix)


_SIZES = ("batch_size", "seq_len", "decoder_seq_len", "encoder_seq_len", "kv_len", "num_samples")


def _lines(axes: Axes, table: Mapping[str, Sequence[object]], name: str) -> None:
    """One line for each combination of the sizes that do not run along the axis."""
    sizes = [size for size in _SIZES if size in table and None not in table[size]]
    several = [size for size in sizes if len(set(table[size])) > 1] or sizes
    along = max(several, key=lambda size: len(set(table[size])))
    others = [size for size in several if size != along]
    groups: dict[tuple[object, ...], list[tuple[object, object]]] = {}
    for i, x in enumerate(table[along]):
        key = tuple(table[other][i] for other in others)
        groups.setdefault(key, []).append((x, table[name][i]))
    for index, (key, points) in enumerate(list(groups.items())[:LINES]):
        label = ", ".join(f"{size} {value}" for size, value in zip(others, key, strict=True))
        xs, ys = ([float(str(one[place])) for one in points] for place in (0, 1))
        axes.plot(
            xs, ys, marker="o", markersize=2.5, color=COLOURS[index % len(COLOURS)], label=label or None
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel(along)
    axes.set_ylabel({"memory": "bytes of memory"}.get(name, name.replace("_", " ", 2)))
    axes.set_title(f"{table['model'][0]}, {table['phase'][0]}", fontsize=8)
    if others and groups:
        axes.legend(fontsize=6)


@dataclass(frozen=True)
class _Box:
    """A layer in a flame graph: its place from left to right, how deep it lies, and what is written on it."""

    left: float
    width: float
    depth: int
    label: str
    colour: str


def _flames(axes: Axes, phase: PhaseAnalysis, what: str) -> None:
    """Each layer above its parts, as wide as its share; equal siblings together."""
    measure = _flops if what == "flops" else _moved
    whole = measure(phase.totals.total)
    boxes = list(_boxes(phase.totals.rows, what)) if whole else []
    deepest = max((box.depth for box in boxes), default=0)
    for box in boxes:
        axes.barh(-box.depth, box.width, left=box.left, height=0.94, color=box.colour, edgecolor="white")
        texts = (f"{box.label}  {box.width:.0%}", box.label, f"{box.width:.0%}")
        text = next((text for text in texts if len(text) < box.width * LETTERS), "")
        axes.text(box.left + box.width / 2, -box.depth, text, ha="center", va="center", fontsize=6.5)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda share, place: f"{share:.0%}")
    axes.set_ylim(-deepest - 0.6, 0.6)
    axes.set_yticks([])
    axes.set_title(f"{phase.name}: {whole:,.0f} {what}", fontsize=9)
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)


def _boxes(rows: Sequence[Row], what: str) -> Iterator[_Box]:
    measure = _flops if what == "flops" else _moved
    whole = measure(rows[0].one)
    beneath = children(rows)
    kinds = list(dict.fromkeys(row.class_name for row in rows))

    def of(index: int, left: float) -> Iterator[_Box]:
        row = rows[index]
        width = measure(row.one) * row.times / whole
        label = row.label or row.class_name.rpartition(".")[2]
        colour = COLOURS[kinds.index(row.class_name) % len(COLOURS)]
        yield _Box(left, width, row.depth, label, f"{colour}aa")
        for child in beneath[index]:
            share = measure(rows[child].one) * rows[child].times / whole
            if share > 0:
                yield from of(child, left)
            left += share
        own = measure(row.own) * row.times / whole
        if beneath[index] and own > 0:
            yield _Box(left, own, row.depth + 1, "own operations", "#e8e8e8")

    yield from of(0, 0.0)


def _roofline(axes: Axes, analysis: Analysis, phase: PhaseAnalysis) -> None:
    """Roofs of the devices, and for each layer its own operations by intensity, at the roof of the first."""
    devices = analysis.devices[:DEVICES]
    own = [(row.own.flops * row.times, row) for row in phase.totals.rows if row.own.flops and row.own.moved]
    intensities = [float(row.own.flops / row.own.moved) for _, row in own]
    low = min([0.5, *(x / 2 for x in intensities)])
    high = max([2000.0, *(x * 2 for x in intensities)])
    for index, device in enumerate(devices):
        peak = device.peak(analysis.widths)
        knee = peak / device.bandwidth
        label = f"{device.id} ({device.format_for(analysis.widths)})"
        xs, ys = [low, knee, max(high, knee)], [low * device.bandwidth, peak, peak]
        axes.plot(xs, ys, color=COLOURS[index % len(COLOURS)], linewidth=1.2, label=label)
    if devices:
        _layers_under(axes, own, devices[0], analysis.widths)
        axes.legend(fontsize=6.5, loc="lower right")
        axes.set_ylim(top=8 * max(device.peak(analysis.widths) for device in devices))  # room for labels
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("flop for each byte read or written")
    axes.set_ylabel("flop/s at most")
    axes.set_title(f"{phase.name}: own operations of layers under the roofs", fontsize=9)
    axes.grid(True, which="major", linewidth=0.3)


def _layers_under(
    axes: Axes, own: Sequence[tuple[int | Fraction, Row]], device: Device, widths: Widths
) -> None:
    """A point for each layer, as large as its flops; layers of about one intensity share a label."""
    most = max((flops for flops, _ in own), default=1)
    together: dict[int, list[tuple[int | Fraction, str, float, float]]] = {}
    for flops, row in own:
        x = float(row.own.flops / row.own.moved)
        y = min(device.peak(widths), x * device.bandwidth)
        axes.scatter([x], [y], s=12 + 120 * float(flops / most), color="#333333", alpha=0.35, linewidths=0)
        label = row.label or row.class_name.rpartition(".")[2]
        together.setdefault(round(3 * math.log10(x)), []).append((flops, label, x, y))
    for found in together.values():
        if sum(flops for flops, *_ in found) < most / 20:
            continue
        _, _, x, y = max(found)
        names = list(dict.fromkeys(label for _, label, *_ in sorted(found, reverse=True)))
        text = "\n".join(
            [*names[:LABELS], *([f"and {len(names) - LABELS} more"] if len(names) > LABELS else [])]
        )
        axes.annotate(
            text, (x, y), fontsize=6, ha="right", va="bottom", xytext=(-6, 4), textcoords="offset points"
        )


def _flops(numbers: Numbers) -> float:
    return float(numbers.flops)


def _moved(numbers: Numbers) -> float:
    return float(numbers.moved)


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _bytes(figure: Figure, suffix: str) -> bytes:
    """The picture without a date or a program's name in it; ids in SVG come from a fixed salt."""
    if suffix not in SUFFIXES:
        raise ForwardbookError(
            f"drawing: a picture ends in {', '.join(SUFFIXES)}, not in {suffix or 'nothing'}"
        )
    from matplotlib import rc_context

    metadata = {
        ".svg": {"Date": None, "Creator": None},
        ".png": {"Software": None},
        ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }[suffix]
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "forwardbook", "svg.fonttype": "none"}):
        figure.savefig(buffer, format=suffix[1:], dpi=150, metadata=metadata)
    return buffer.getvalue()
