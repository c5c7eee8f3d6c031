"""`profile run`: a model and settings in; a folder of measurements beside formulas out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli import model_options as options

if TYPE_CHECKING:
    from forwardbook.pipeline.profile_run import Settings


def run(
    model: Annotated[
        str,
        typer.Argument(
            help="As of analyze-model: an id, a folder or `config.json`, `package.module:factory`."
        ),
    ],
    batch_size: options.BatchSize = None,
    seq_len: options.SeqLen = None,
    num_samples: options.NumSamples = None,
    size: options.Sizes = None,
    fields: options.Fields = None,
    inputs: options.Inputs = None,
    trust: options.Trust = False,
    device: Annotated[str, typer.Option(help="cpu or cuda, cuda:1, ...")] = "cpu",
    dtype: Annotated[str | None, typer.Option(help="float32 (cpu), bfloat16 (cuda) by default.")] = None,
    new_tokens: Annotated[int, typer.Option(min=1, help="Tokens to generate.")] = 8,
    repeats: Annotated[int, typer.Option(min=1, help="Runs that count.")] = 5,
    warmup: Annotated[int, typer.Option(min=0, help="Runs before them that do not.")] = 2,
    seed: Annotated[int, typer.Option(help="Of weights and inputs.")] = 0,
    passes: Annotated[
        str, typer.Option(help="Which of timing, operators, flops, memory; with commas.")
    ] = "timing,operators,flops,memory",
    nvtx: Annotated[bool, typer.Option("--nvtx/--no-nvtx", help="Ranges prefill, decode for Nsight.")] = True,
    nvtx_modules: Annotated[bool, typer.Option("--nvtx-modules", help="And one for each module.")] = False,
    random_weights: Annotated[
        bool, typer.Option("--random-weights", help="Even where the folder holds weights.")
    ] = False,
    hardware: Annotated[str | None, typer.Option(help="Whose peaks to use, by id or driver's name.")] = None,
    topk: Annotated[int, typer.Option("--topk", min=1, help="Operators to list.")] = 20,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where run folders go.")] = Path(
        "tmp/profile-output"
    ),
    run_id: Annotated[str, typer.Option("--run-id", help="A name instead of time and number.")] = "",
) -> None:
    """Measure a model beside its formulas: `forwardbook profile run gpt2 --set n_layer=2 --seq_len 64`"""
    with options.refusing():
        from forwardbook.pipeline.model_find import changed, find_model
        from forwardbook.pipeline.profile_model import weights_in
        from forwardbook.pipeline.profile_run import Settings, profile_model
        from forwardbook.workspace.model_files import ModelFiles

        sizes = {"batch_size": batch_size, "seq_len": seq_len, "num_samples": num_samples}
        request = options.request_from(
            model, sizes=sizes, more=size, fields=fields, inputs=inputs, trusted=trust
        )
        found = changed(find_model(model, ModelFiles(Path.cwd()), request.inputs, trust), request.fields)
        settings = Settings(
            sizes=request.sizes,
            device=device,
            dtype=dtype or ("bfloat16" if device.startswith("cuda") else "float32"),
            new_tokens=new_tokens,
            repeats=repeats,
            warmup=warmup,
            seed=seed,
            passes=_passes(passes),
            nvtx=nvtx,
            nvtx_modules=nvtx_modules,
            topk=topk,
            hardware=hardware,
            weights=None if random_weights or request.fields else weights_in(Path(model)),
        )
        path = profile_model(found, settings, output, run_id, lambda text: print(text, file=sys.stderr))
        print(_shown(path, settings))


def _passes(text: str) -> list[str]:
    from difflib import get_close_matches

    from forwardbook.pipeline.profile_run import PASSES

    wanted = [one.strip() for one in text.split(",") if one.strip()]
    for one in wanted:
        if one not in PASSES:
            near = get_close_matches(one, PASSES, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise typer.BadParameter(f"there is no pass {one!r}{hint}", param_hint="'--passes'")
    return wanted


def _shown(path: Path, settings: Settings) -> str:
    report = (path / "torch_profiler" / "report.md").read_text(encoding="utf-8")
    return f"{report}\nwrote {path}"
