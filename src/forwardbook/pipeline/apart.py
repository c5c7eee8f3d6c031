"""A function and a task in; its result, of a process of its own, out."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Ended(Generic[Task]):
    """A process that gave no result: it was killed, or what it ran raised."""

    task: Task
    why: str


def apart(function: Callable[[Task], Result], task: Task) -> Result | Ended[Task]:
    """The result in a new process: where several run at once one that dies costs its own task alone."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            result: Result = pickle.loads(pool.submit(_pickled, function, task).result())  # noqa: S301 - our own
        except Exception as error:  # noqa: BLE001 - a process that was killed
            return Ended(task, f"its process ended: {type(error).__name__}")
        return result


def _pickled(function: Callable[[Task], Result], task: Task) -> bytes:
    return pickle.dumps(function(task))
