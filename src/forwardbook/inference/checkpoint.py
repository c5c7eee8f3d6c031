"""A folder with weights in; the model on its device, and what predicts with it, out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forwardbook.errors import ForwardbookError
from forwardbook.inference.prediction import Predict
from forwardbook.inference.tasks import Task, task_named, task_of

if TYPE_CHECKING:
    import torch


class CheckpointRefused(ForwardbookError):
    """A folder that nothing can be predicted with."""


@dataclass(frozen=True)
class Wishes:
    """How predictions are made, as far as a task knows of it."""

    new_tokens: int
    threshold: float
    top_k: int
    prompt: str | None = None
    trusted: bool = False


@dataclass(frozen=True)
class Checkpoint:
    """The folder, the class that its config names, and the task."""

    folder: Path
    class_name: str
    model_type: str
    task: Task


def checkpoint_in(folder: Path, task: str | None, reads: str) -> Checkpoint:
    """What is in a folder, as far as its config tells.

    Raises:
        CheckpointRefused: without a config, a class in it, or weights.
        TaskUnknown: where it is for nothing that is known here.
    """
    doing = f"predicting with {folder}"
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointRefused(
            f"{doing}: there is no config.json; name a folder with a checkpoint"
        ) from None
    except (OSError, ValueError) as error:
        raise CheckpointRefused(f"{doing}: config.json cannot be read: {error}") from None
    if not any(folder.glob("*.safetensors")) and not any(folder.glob("*.bin")):
        raise CheckpointRefused(
            f"{doing}: it holds no weights (*.safetensors, *.bin); random ones would predict nothing"
        )
    classes = config.get("architectures") or []
    if not classes:
        raise CheckpointRefused(f"{doing}: its config.json names no class under `architectures`")
    kind = task_named(task) if task else task_of(str(classes[0]), reads)
    return Checkpoint(folder, str(classes[0]), str(config.get("model_type", "")), kind)


def fingerprint(folder: Path) -> dict[str, list[int]]:
    """Size and time of change (ns) of each file that predictions follow from."""
    kinds = (".json", ".safetensors", ".bin", ".txt", ".model", ".jinja")
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix in kinds)
    return {path.name: [path.stat().st_size, path.stat().st_mtime_ns] for path in files}


def predictor(found: Checkpoint, device: torch.device, dtype: torch.dtype, wishes: Wishes) -> Predict:
    """A function that predicts one sample.

    Raises:
        CheckpointRefused: where the weights, the tokenizer or the processor cannot be loaded.
    """
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return _predictor(found, device, dtype, wishes)
    except ForwardbookError:
        raise
    except Exception as error:  # what a checkpoint lacks, each class of transformers says in its own way
        first = next(iter(str(error).splitlines()), "")
        raise CheckpointRefused(
            f"loading {found.folder} for {found.task.name}: {type(error).__name__}: {first}"
        ) from error


def _predictor(found: Checkpoint, device: torch.device, dtype: torch.dtype, wishes: Wishes) -> Predict:
    from forwardbook.inference import generating, piping

    if found.task.name in generating.TASKS:
        model = _model(found, dtype, wishes.trusted).eval().to(device)
        return generating.predict_with(model, found, wishes)
    return piping.predict_with(found, device, dtype, wishes)


def _model(found: Checkpoint, dtype: torch.dtype, trusted: bool) -> Any:
    import transformers

    kind = getattr(transformers, found.class_name, None)
    if kind is None and trusted:
        kind = transformers.AutoModelForCausalLM
    if kind is None:
        raise CheckpointRefused(
            f"loading {found.folder}: transformers has no class {found.class_name}; "
            "model.trust_remote_code=true runs the code in the folder"
        )
    return kind.from_pretrained(found.folder, local_files_only=True, dtype=dtype, trust_remote_code=trusted)
