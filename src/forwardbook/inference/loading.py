"""A checkpoint in; the model on its device, and what predicts with it, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forwardbook.errors import ForwardbookError
from forwardbook.inference import generating, piping
from forwardbook.inference.checkpoint import Checkpoint, CheckpointRefused, Wishes
from forwardbook.inference.prediction import Predict

if TYPE_CHECKING:
    import torch


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
