"""`profile run`: a model and settings in; a folder of measurements beside formulas out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli import configured_options as configured
from forwardbook.cli import model_options as options
from forwardbook.cli.exit_codes import INCOMPLETE, REFUSED
from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from pydantic import JsonValue

LONG = "\n## From formula to kernel"
HERE = "torch_profiler/report.md"

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL KEY=VALUE ...",
        help="As of analyze-model: an id, a folder or `config.json`, `package.module:factory`. "
        "Then overrides of the configuration: `group=option`, `pipeline.nsys.enable=true`.",
    ),
]


def run(
    words: Words = None,
    batch_size: options.BatchSize = None,
    seq_len: options.SeqLen = None,
    num_samples: options.NumSamples = None,
    size: options.Sizes = None,
    fields: options.Fields = None,
    inputs: options.Inputs = None,
    trust: options.Trust = False,
    device: Annotated[str | None, typer.Option(help="cpu or cuda, cuda:1, ...")] = None,
    dtype: Annotated[str | None, typer.Option(help="float32 (cpu), bfloat16 (cuda) by default.")] = None,
    new_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens to generate; 8.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Runs that count; 5.")] = None,
    warmup: Annotated[int | None, typer.Option(min=0, help="Runs before them that do not; 2.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of weights and inputs; 0.")] = None,
    passes: Annotated[
        str | None, typer.Option(help="Which of timing, operators, flops, memory; with commas.")
    ] = None,
    nvtx: Annotated[
        bool | None, typer.Option("--nvtx/--no-nvtx", help="Ranges prefill, decode for Nsight.")
    ] = None,
    nvtx_modules: Annotated[bool, typer.Option("--nvtx-modules", help="And one for each module.")] = False,
    random_weights: Annotated[
        bool, typer.Option("--random-weights", help="Even where the folder holds weights.")
    ] = False,
    hardware: Annotated[str | None, typer.Option(help="Whose peaks to use, by id or driver's name.")] = None,
    topk: Annotated[int | None, typer.Option("--topk", min=1, help="Operators to list; 20.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where run folders go; tmp/profile-output.")
    ] = None,
    run_id: Annotated[str | None, typer.Option("--run-id", help="A name instead of time and number.")] = None,
    config_dir: configured.ConfigDir = None,
    config_name: configured.ConfigName = "config",
    cfg: configured.Shown = None,
    resolve: configured.Resolve = False,
) -> None:
    """Measure a model beside its formulas: `forwardbook profile run gpt2 --set n_layer=2 --seq_len 64`

    The same from configuration groups: `forwardbook profile run model=qwen2_5_7b profiling=full`"""
    with options.refusing():
        request = options.request_from("", sizes={}, more=size, fields=fields, inputs=inputs)
        stage = "pipeline.torch_profiler"
        wished: list[JsonValue] | None = None if passes is None else [*_parts(passes)]
        flags: dict[str, tuple[str, JsonValue]] = {
            "--batch_size": ("runtime.batch_size", batch_size),
            "--seq_len": ("runtime.seq_len", seq_len),
            "--num_samples": ("runtime.num_samples", num_samples),
            "--size": ("runtime.sizes", dict(request.sizes)),
            "--set": ("model.fields", dict(request.fields)),
            "--input": ("model.inputs", dict(request.inputs)),
            "--trust-remote-code": ("model.trust_remote_code", trust or None),
            "--device": ("hardware.device", device),
            "--dtype": ("runtime.dtype", dtype),
            "--new-tokens": ("runtime.new_tokens", new_tokens),
            "--repeats": (f"{stage}.repeats", repeats),
            "--warmup": (f"{stage}.warmup", warmup),
            "--seed": ("runtime.seed", seed),
            "--passes": (f"{stage}.passes", wished),
            "--nvtx": (f"{stage}.nvtx", nvtx),
            "--nvtx-modules": (f"{stage}.nvtx_modules", nvtx_modules or None),
            "--random-weights": ("model.random_weights", random_weights or None),
            "--hardware": ("hardware.peaks", hardware),
            "--topk": (f"{stage}.output.topk", topk),
            "--output": ("output.root", None if output is None else str(output)),
            "--run-id": ("output.run_id", run_id),
        }
        source = configured.Source(config_dir, config_name, cfg, resolve)
        composed, wanted = configured.configuration(words, [("MODEL", "model.name")], flags, source)

        from forwardbook.pipeline.configured.run import run_configured

        done = run_configured(composed, wanted, say)
        put(_shown(done.path))
    for missing in done.missing:
        say(f"error: {missing}")
    if done.missing:
        raise typer.Exit(INCOMPLETE)
    if done.failed_samples:
        raise typer.Exit(REFUSED)


def _parts(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _shown(path: Path) -> str:
    """The report but for its long table from formula to kernel, and where all of it is."""
    if not (path / HERE).is_file():
        return f"wrote {path}"
    report = (path / HERE).read_text(encoding="utf-8").partition(LONG)
    whole = " (formula -> module -> operator -> kernel: report.md)" if report[1] else ""
    return f"{report[0]}\nwrote {path}{whole}"
