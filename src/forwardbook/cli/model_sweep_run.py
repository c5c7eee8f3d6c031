"""`analyze-model --sweep`: a model and ranges of sizes in; a table of all points printed and written."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.book.model_sweep_tables import joined, sweep_csv, sweep_parquet
from forwardbook.cli.cost_view import scaled
from forwardbook.cli.model_run import Outputs, progress, write
from forwardbook.cli.model_view import duration
from forwardbook.cli.printing import put, say
from forwardbook.cli.terminal import console
from forwardbook.models.sweep import axes
from forwardbook.pipeline.model.analysis import Checked, Request, checked
from forwardbook.pipeline.model.sweep import sweep
from forwardbook.workspace import Workspace
from forwardbook.workspace.model_files import ModelFiles

SHOWN = 24
Columns = dict[str, list[object]]


def run_sweep(request: Request, text: str, outputs: Outputs) -> None:
    """Every point evaluated at once; files first, then the table."""
    outputs.check()
    values = axes(text)
    with progress() as told:
        asked = checked(request, ModelFiles(Workspace.find().root), told, need_sizes=False)
        started = time.perf_counter()
        tables = sweep(asked, values)
        seconds = time.perf_counter() - started
    table = joined(asked.model.architecture.model_id, request.bits, tables)
    files = _files(asked, table, outputs)
    for path, content in files.items():
        write(path, content)
    count = len(table["model"])
    if outputs.as_json:
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        put(json.dumps({"points": count, "attention": request.attention, "rows": rows}))
    else:
        console().print(_view(table, list(values)))
    say(f"{count:,} points in {seconds:.3f} s; attention {request.attention}")
    for path in files:
        say(f"wrote {path}")


def _files(asked: Checked, table: Columns, outputs: Outputs) -> dict[Path, str | bytes]:
    found: dict[Path, str | bytes] = {}
    named = [outputs.csv] if outputs.csv is not None else []
    named += [outputs.out / "sweep.csv"] if outputs.out is not None else []
    for path in named:
        found[path] = sweep_parquet(table) if path.suffix == ".parquet" else sweep_csv(table)
    pictures = [outputs.plot] if outputs.plot is not None else []
    pictures += [outputs.out / "sweep.svg"] if outputs.out is not None else []
    if pictures:
        from forwardbook.book.model_pictures import sweep_picture

        for path in pictures:
            found[path] = sweep_picture(table, asked.devices, asked.widths, path.suffix)
    return found


def _view(table: Mapping[str, list[object]], swept: list[str]) -> RenderableType:
    """The first and last points, with units."""
    times = [name for name in table if name.startswith("seconds_")]
    names = [
        name for name in ("phase", "batch_size", "seq_len", "decoder_seq_len", "kv_len") if name in table
    ]
    names += [name for name in swept if name in table and name not in names]
    names += ["flops", "reads", "writes", "peak", "cache", "memory", *times]
    shown = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        shown.add_column(name.removeprefix("seconds_").replace("_", " ", 1), justify="right")
    count = len(table["model"])
    half = SHOWN // 2
    places = range(count) if count <= SHOWN else [*range(half), *range(count - half, count)]
    for index, place in enumerate(places):
        if count > SHOWN and index == half:
            shown.add_row(*("..." for _ in names))
        shown.add_row(*(_cell(name, table[name][place]) for name in names))
    rest = "" if count <= SHOWN else f"{count:,} points; --csv FILE writes all of them"
    return Group(shown, Text(rest, "dim"))


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    if name.startswith("seconds_") and isinstance(value, float):
        return duration(value)
    if name == "flops" and isinstance(value, int):
        return scaled(value, 1000, "flop")
    if name in ("reads", "writes", "peak", "cache", "memory") and isinstance(value, int):
        return scaled(value, 1024, "B")
    return str(value)
