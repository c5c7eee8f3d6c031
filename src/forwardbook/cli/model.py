"""`forwardbook analyze-model`: a model's name and sizes in; its exact costs, printed and in files, out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forwardbook.cli import agent_options
from forwardbook.cli import model_options as options


def analyze_model(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="An id kept here (`llama-2-7b`), a Hugging Face id, a folder with `config.json`, "
            "a config class, or a factory `package.module:function`.",
            show_default=False,
        ),
    ] = None,
    model_id: Annotated[
        str | None, typer.Option("--model_id", "--model-id", help="The same, as an option.")
    ] = None,
    model_json: Annotated[
        Path | None, typer.Option("--model_json", "--model-json", help="A file that one of the steps wrote.")
    ] = None,
    generate_arch: Annotated[
        bool,
        typer.Option("--generate-arch", help="Write the structure: models/ID.json.", rich_help_panel="Steps"),
    ] = False,
    ensure_modules: Annotated[
        bool,
        typer.Option(
            "--ensure-modules", help="Analyse the classes that the database lacks.", rich_help_panel="Steps"
        ),
    ] = False,
    populate_arch: Annotated[
        bool,
        typer.Option(
            "--populate-arch", help="Write parameters: models/ID_populated.json.", rich_help_panel="Steps"
        ),
    ] = False,
    no_analyse: Annotated[
        bool,
        typer.Option(
            "--no-analyse", "--no-analyze", help="Only list missing classes.", rich_help_panel="Steps"
        ),
    ] = False,
    jobs: Annotated[
        int, typer.Option(help="Classes analysed at once; 0 is one per processor.", rich_help_panel="Steps")
    ] = 0,
    analyze: Annotated[
        bool, typer.Option("--analyze", help="Compute the costs at the sizes given.", rich_help_panel="Steps")
    ] = False,
    batch_size: options.BatchSize = None,
    seq_len: options.SeqLen = None,
    decoder_seq_len: options.DecoderSeqLen = None,
    kv_len: options.KvLen = None,
    num_samples: options.NumSamples = None,
    image_size: options.ImageSize = None,
    num_frames: options.NumFrames = None,
    size: options.Sizes = None,
    w_bit: options.WBit = 16,
    a_bit: options.ABit = 16,
    kv_bit: options.KvBit = None,
    phase: options.Phase = "prefill",
    attention: options.Attention = "dense",
    hardware: options.Hardware = None,
    fields: options.Fields = None,
    inputs: options.Inputs = None,
    trust: options.Trust = False,
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE=FROM:TO:STEP,...",
            help="Every combination of sizes instead of one point: batch_size=1:64:x2,seq_len=128:8192:+128.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    csv: Annotated[
        Path | None, typer.Option(help="Write rows: layers, or points of a sweep (.csv, .parquet).")
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the analysis as a page.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw where the cost goes and the roofline; .svg, .png or .pdf.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write all of these into a folder.")] = None,
    timeout: options.Timeout = None,
    analyst: agent_options.Analyst = None,
    max_cost: agent_options.MaxCost = None,
    analyst_model: agent_options.AnalystModel = "",
    dry_run: agent_options.DryRun = False,
) -> None:
    """Exact costs of a whole model: `forwardbook analyze-model llama-2-7b --batch_size 1 --seq_len 2048`"""
    steps = {"arch": generate_arch, "modules": ensure_modules, "populate": populate_arch, "analyze": analyze}
    named = [str(name) for name in (model, model_id, model_json) if name is not None]
    if len(named) != 1:
        found = f"{len(named)} models were named" if named else "no model was named"
        raise typer.BadParameter(f"{found}; give one of MODEL, --model_id, --model_json")
    request = options.request_from(
        named[0],
        sizes={
            "batch_size": batch_size,
            "seq_len": seq_len,
            "decoder_seq_len": decoder_seq_len,
            "kv_len": kv_len,
            "num_samples": num_samples,
        },
        more=size,
        w_bit=w_bit,
        a_bit=a_bit,
        kv_bit=kv_bit,
        phase=phase,
        attention=attention,
        hardware=hardware,
        image_size=image_size,
        num_frames=num_frames,
        fields=fields,
        inputs=inputs,
        trusted=trust,
    )
    with options.refusing(None if ensure_modules else timeout):
        from dataclasses import replace

        from forwardbook.cli.model_run import Outputs, run_steps, show_prompt

        chosen = agent_options.chosen_analyst(analyst, max_cost, analyst_model, dry_run)
        request = replace(request, chosen=chosen)
        if chosen is not None and dry_run:
            show_prompt(request)
            return

        outputs = Outputs(as_json, csv, markdown, plot, out)
        if sweep is not None:
            from forwardbook.cli.model_sweep_run import run_sweep

            run_sweep(request, sweep, outputs)
            return
        run_steps(request, steps, outputs, file=model_json, jobs=-1 if no_analyse else jobs, timeout=timeout)
