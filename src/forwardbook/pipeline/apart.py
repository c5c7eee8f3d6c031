"""A function and tasks in; its results as they come, each of a process of its own."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from types import FrameType
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Ended:
    """A process that gave no result: it was killed, or what it ran raised."""

    why: str


class OutOfTime(BaseException):
    """The processor time of a piece of work is over; no `except Exception` of analysed code keeps it."""


def each_apart(
    function: Callable[[Task], Result], tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[Task, Result | Ended]]:
    """Each task with its result, so many at once; a process that dies costs its own task alone."""
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(_apart, function, task): task for task in tasks}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def _apart(function: Callable[[Task], Result], task: Task) -> Result | Ended:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            result: Result = pickle.loads(pool.submit(_pickled, function, task).result())  # noqa: S301 - our own
        except Exception as error:  # noqa: BLE001 - a process that was killed
            return Ended(f"its process ended: {type(error).__name__}")
        return result


def _pickled(function: Callable[[Task], Result], task: Task) -> bytes:
    return pickle.dumps(function(task))


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Inside, `OutOfTime` is raised once the process has run so long, again each second until it is heard."""

    def over(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
