"""A time in, a block that ends by then out: processor time, so that a busy machine changes nothing."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

AGAIN: Final = 10.0  # seconds until it is raised anew: Python ignores what finalisers and callbacks raise


class Overtime(BaseException):
    """A block took longer than it was given. No `except Exception` of the code within keeps it."""


class Clock:
    """What is left of the processor time of this process for one piece of work."""

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds

    @property
    def left(self) -> float:
        """Seconds that may still be spent."""
        return self._end - time.process_time()

    @contextmanager
    def within(self, seconds: float | None = None) -> Iterator[None]:
        """Raise Overtime inside the block when it has used so many seconds, or all that is left.

        It is raised again where the block goes on. Only in the main thread, and not one within another.
        """
        allowed = self.left if seconds is None else min(seconds, self.left)
        if allowed <= 0:
            raise Overtime
        before = signal.signal(signal.SIGPROF, _raise)
        signal.setitimer(signal.ITIMER_PROF, allowed, AGAIN)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)


def _raise(number: int, frame: FrameType | None) -> None:
    raise Overtime
