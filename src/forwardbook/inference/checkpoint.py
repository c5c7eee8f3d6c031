"""A folder with weights in; what its config tells of the model and its task, and its fingerprint, out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from forwardbook.errors import ForwardbookError
from forwardbook.inference.tasks import Task, task_named, task_of


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
        config = json.loads((folder / "config.json").read_text(encoding="utf-8-sig"))
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
