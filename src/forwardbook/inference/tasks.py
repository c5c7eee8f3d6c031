"""The class of a checkpoint in; what inference does with it, and which samples it reads, out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from forwardbook.errors import ForwardbookError


class TaskUnknown(ForwardbookError):
    """A checkpoint that no task is known for, or a task that there is not."""


@dataclass(frozen=True)
class Task:
    """What is done, with which kind of samples, for the classes of which table of transformers."""

    name: str
    reads: Literal["text", "image"]
    table: str


TASKS: Final = (
    Task("text-generation", "text", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"),
    Task("text2text-generation", "text", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES"),
    Task("image-to-text", "image", "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES"),
    Task("object-detection", "image", "MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES"),
    Task("image-classification", "image", "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES"),
    Task("text-classification", "text", "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES"),
    Task("token-classification", "text", "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES"),
    Task("fill-mask", "text", "MODEL_FOR_MASKED_LM_MAPPING_NAMES"),
    Task("image-feature-extraction", "image", "MODEL_FOR_IMAGE_MAPPING_NAMES"),
    Task("feature-extraction", "text", "MODEL_MAPPING_NAMES"),
)
"""In this order: the first table that has the class decides."""


def task_named(name: str) -> Task:
    """The task of that name.

    Raises:
        TaskUnknown: where there is none.
    """
    names = [task.name for task in TASKS]
    for task in TASKS:
        if task.name == name:
            return task
    near = get_close_matches(name, names, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise TaskUnknown(
        f"choosing model.task={name}: there is no such task{meant} There are: {', '.join(names)}"
    )


def task_of(class_name: str, reads: str) -> Task:
    """What the class was made for; where it was for several, what reads samples of that kind.

    Raises:
        TaskUnknown: for a class of no table, such as one that hears or speaks.
    """
    from transformers.models.auto import modeling_auto

    fitting = [task for task in TASKS if _lists(getattr(modeling_auto, task.table).values(), class_name)]
    if fitting:
        return next((task for task in fitting if task.reads == reads), fitting[0])
    names = ", ".join(task.name for task in TASKS)
    raise TaskUnknown(
        f"choosing what to infer with {class_name}: no task is known for it; "
        f"give model.task=NAME with one of {names}"
    )


def _lists(listed: Iterable[str | tuple[str, ...]], name: str) -> bool:
    """Whether a table has a class; some rows have several."""
    return any(name == one or (not isinstance(one, str) and name in one) for one in listed)
