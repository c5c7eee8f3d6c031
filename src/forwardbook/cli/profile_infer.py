"""`profile infer`: a checkpoint and a folder of texts or images in; predictions, one line each, out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli import configured_options as configured
from forwardbook.cli import model_options as options
from forwardbook.cli.exit_codes import REFUSED
from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from pydantic import JsonValue

    from forwardbook.configuration.composition import Composed
    from forwardbook.configuration.schema import Configuration
    from forwardbook.pipeline.configured.inference import Progress, Summary

STAGE = "pipeline.direct_inference"
KINDS = {"text": "text_folder", "lines": "text_lines", "image": "image_folder"}

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CHECKPOINT FOLDER KEY=VALUE ...",
        help="A folder with weights; a folder of texts or images; then overrides of the configuration.",
    ),
]


def infer(
    words: Words = None,
    kind: Annotated[
        str | None,
        typer.Option(help="What the folder holds: text, lines (a sample in each line), image. By its files."),
    ] = None,
    task: Annotated[str | None, typer.Option(help="By default what the checkpoint's class is for.")] = None,
    prompt: Annotated[str | None, typer.Option(help="Said beside each image.")] = None,
    new_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens to write at most; 8.")] = None,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Least score of a box; 0.5.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda, cuda:1, ...")] = None,
    dtype: Annotated[str | None, typer.Option(help="float32 (cpu), bfloat16 (cuda) by default.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where run folders go; tmp/profile-output.")
    ] = None,
    run_id: Annotated[str | None, typer.Option("--run-id", help="A name instead of time and number.")] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with this run folder; its own configuration holds.")
    ] = None,
    config_dir: configured.ConfigDir = None,
    config_name: configured.ConfigName = "config",
    cfg: configured.Shown = None,
    resolve: configured.Resolve = False,
) -> None:
    """Predict without profiling: `forwardbook profile infer models/vit images --threshold 0.3`

    From groups: `forwardbook profile infer model=gpt2 dataset=text_lines dataset.root=texts`"""
    flags: dict[str, tuple[str, JsonValue]] = {
        "--task": ("model.task", task),
        "--prompt": ("dataset.prompt", prompt),
        "--new-tokens": ("runtime.new_tokens", new_tokens),
        "--threshold": (f"{STAGE}.threshold", threshold),
        "--device": ("hardware.device", device),
        "--dtype": ("runtime.dtype", dtype),
        "--output": ("output.root", None if output is None else str(output)),
        "--run-id": ("output.run_id", run_id),
    }
    with options.refusing():
        if resume is not None:
            _refuse_beside_resume(words, [name for name, (_, value) in flags.items() if value is not None])
            failed = _resumed(resume)
        else:
            source = configured.Source(config_dir, config_name, cfg, resolve)
            places, more = _places(words or [], kind)
            composed, wanted = configured.configuration([*(words or []), *more], places, flags, source)
            failed = _inferred(composed, wanted)
    if failed:
        raise typer.Exit(REFUSED)


def _places(words: list[str], kind: str | None) -> tuple[list[tuple[str, str]], list[str]]:
    """What names on the command line stand for, and the dataset's group: as named, or as its files tell."""
    from forwardbook.configuration.overrides import is_override

    if kind is not None and kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(KINDS)}", param_hint="'--kind'")
    overrides = [word for word in words if is_override(word) and not Path(word).exists()]
    names = [word for word in words if word not in overrides]
    places = [("CHECKPOINT", "model.path"), ("FOLDER", "dataset.root")]
    if any(word.startswith(("model=", "model.path=")) for word in overrides):
        places = places[1:]
    if any(word.startswith("dataset=") for word in overrides):
        return places, []
    if len(names) >= len(places) and kind is None:
        from forwardbook.inference.kinds import kind_of

        kind = kind_of(Path(names[len(places) - 1]))
    return places, [f"dataset={KINDS[kind]}"] if kind else []


def _refuse_beside_resume(words: list[str] | None, given: list[str]) -> None:
    if words or given:
        told = ", ".join([*(words or []), *given])
        raise typer.BadParameter(
            f"a run that is resumed keeps its configuration; leave out {told}", param_hint="'--resume'"
        )


def _inferred(composed: Composed, wanted: Configuration) -> int:
    from forwardbook.pipeline.configured.inference import infer_into, plan, predictions_lock
    from forwardbook.pipeline.configured.run import model_name
    from forwardbook.workspace.run_folder import run_folder

    named = model_name(wanted)
    plan(wanted)  # before a folder is made
    with run_folder(Path(wanted.output.root), f"profile infer {named}", wanted.output.run_id) as folder:
        _told(f"run folder {folder.path}")
        folder.write("config.yaml", composed.text(resolve=True))
        with predictions_lock(folder.path), _resumable(folder.path), _bar() as progress:
            summary = infer_into(folder, wanted, _told, progress)
    return _shown(folder.path, summary)


def _resumed(path: Path) -> int:
    from forwardbook.configuration.checked import configured as checked
    from forwardbook.configuration.overrides import ConfigurationError
    from forwardbook.pipeline.configured.inference import infer_into
    from forwardbook.workspace.run_folder import resumed_folder

    with _going_on(path), resumed_folder(path) as folder:
        if not (path / "config.yaml").is_file():
            raise ConfigurationError(f"resuming {path}: the run has no config.yaml to go on with")
        _, wanted = checked([path])
        with _resumable(path), _bar() as progress:
            summary = infer_into(folder, wanted, _told, progress)
    return _shown(path, summary)


@contextmanager
def _resumable(path: Path) -> Iterator[None]:
    """Whoever stops a run is told how to go on with it."""
    try:
        yield
    except KeyboardInterrupt:
        _told(f"every prediction so far is kept; go on: forwardbook profile infer --resume {path}")
        raise


def _going_on(path: Path) -> AbstractContextManager[None]:
    """The lock of a run's predictions; a folder without any has nothing to hold."""
    from forwardbook.pipeline.configured.inference import LINES, predictions_lock

    return predictions_lock(path) if (path / LINES).parent.is_dir() else nullcontext()


def _shown(path: Path, summary: Summary) -> int:
    from forwardbook.pipeline.configured.inference import LINES

    before = f", {summary.before} before" if summary.before else ""
    put(f"{summary.predicted} of {summary.total} samples predicted{before}, {summary.failed} failed")
    if summary.drawn:
        put(f"{summary.drawn} images drawn onto")
    put(f"wrote {path / LINES}")
    return summary.failed


def _told(text: str) -> None:
    say(text)


@contextmanager
def _bar() -> Iterator[Progress]:
    """A bar on standard error, where that is a terminal."""
    from forwardbook.cli.explain_progress import progress

    with progress() as told:
        yield told
