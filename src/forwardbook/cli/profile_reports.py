"""`profile check|kernels|analyze`: files of profilers in; what they say, printed and written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from forwardbook.cli import model_options as options
from forwardbook.cli.exit_codes import REFUSED
from forwardbook.cli.output_files import check_files
from forwardbook.cli.printing import put

Locale = Annotated[
    Literal["C", "en", "de", "fr"] | None,
    typer.Option(
        help="How numbers in a CSV of Nsight Compute are written, where the file leaves it in doubt."
    ),
]


def kernels(
    report: Annotated[Path, typer.Argument(help="A report of nsys (.sqlite, CSV, JSON), ncu or torch.")],
    topk: Annotated[int, typer.Option("--topk", min=1, help="How many kernels.")] = 30,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write YAML there; `-` prints.")
    ] = None,
    locale: Locale = None,
) -> None:
    """The kernels that took most time: `forwardbook profile kernels run.sqlite --topk 30 -o top.yaml`"""
    with options.refusing():
        from forwardbook.cli.profile_view import kernel_table
        from forwardbook.profiling.kernel_list import as_yaml, longest
        from forwardbook.profiling.readers.anything import kernels_of, read_report

        file = None if str(output) == "-" else output
        check_files("--output", (file,) if file else ())
        rows = kernels_of(read_report(report, locale))
        known = [row.total_ns for row in rows if row.total_ns is not None]
        found = longest(rows, topk)
        text = as_yaml(found, report.name, sum(known) if known else None)
        if file is None:
            put(text if output is not None else kernel_table(found))
        else:
            _written(file, text)


def analyze(
    folder: Annotated[Path, typer.Argument(help="A folder with reports of Nsight Compute (CSV, .ncu-rep).")],
    hardware: Annotated[
        str | None, typer.Option(help="The GPU: id, prefix or driver's name; without it no share of a peak.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for kernels.csv, report.md and pictures.")
    ] = None,
    locale: Locale = None,
) -> None:
    """Each kernel on the roofline of its format: `forwardbook profile analyze ncu/ --hardware rtx-5090`"""
    with options.refusing():
        from forwardbook.pipeline.profile.folder import analyse_into
        from forwardbook.profiling.kernel_analysis import analyse_folder, as_page
        from forwardbook.profiling.peaks import devices_named

        device = devices_named(hardware)[0] if hardware else None
        found = analyse_folder(folder, locale)
        put(as_page(found, device), end="")
        if output is not None:
            for path in analyse_into(found, device, output):
                put(f"wrote {path}")


def check(
    trace: Annotated[Path, typer.Option(help="A trace of torch.profiler, taken with record_shapes=True.")],
    model: Annotated[
        str | None, typer.Option(help="As of analyze-model: an id, a folder with config.json, a class.")
    ] = None,
    ncu: Annotated[
        Path | None, typer.Option(help="A folder of Nsight Compute reports of the same run: counters beside.")
    ] = None,
    batch_size: options.BatchSize = None,
    seq_len: options.SeqLen = None,
    decoder_seq_len: options.DecoderSeqLen = None,
    kv_len: options.KvLen = None,
    size: options.Sizes = None,
    fields: options.Fields = None,
    hardware: Annotated[str | None, typer.Option(help="The GPU, where the trace does not name it.")] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(help="A module that need not run, or an operator that need not be in a formula."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Formulas against a trace of any GPU: `forwardbook profile check --trace t.json --model qwen2.5-7b`"""
    sizes = {
        "batch_size": batch_size,
        "seq_len": seq_len,
        "decoder_seq_len": decoder_seq_len,
        "kv_len": kv_len,
    }
    with options.refusing():
        request = options.request_from(model or "", sizes=sizes, more=size, fields=fields)
        from forwardbook.cli.profile_check_run import run_check

        exact = run_check(trace, request if model else None, ncu, hardware, allow or (), as_json=as_json)
    if not exact:
        raise typer.Exit(REFUSED)


def _written(path: Path, text: str) -> None:
    from forwardbook.workspace.storage import write_atomically

    write_atomically(path, text)
    put(f"wrote {path}")
