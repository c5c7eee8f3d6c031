"""What a child process finds in its folder, and the limits it runs under."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.child.request import Request
from forwardbook.schema import Record

JOB: Final = "job.json"
RESPONSE: Final = "response.json"
WHERE: Final = "where.txt"
"""Where the process was when it crashed or was asked, as faulthandler writes it."""

HOME: Final = "home"
"""The folder beside these in which analysed code may write."""

MEMORY_VARIABLE: Final = "FORWARDBOOK_MEMORY_GB"
WORKER: Final = "forwardbook.pipeline.child.work:work"
MEMORY_GB: Final = 12.0
SECONDS: Final = 600.0


class Job(Record):
    """One request, the function that answers it, and its limits: bytes and seconds."""

    request: Request
    worker: str
    memory: int
    seconds: float
    asked_in: str = ""
    """The folder that files are named from where a person is told of them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much the analysed code may use: memory beyond what torch itself maps, and time."""

    memory_gb: float = MEMORY_GB
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        if not (self.memory_gb > 0 and self.seconds > 0):
            raise ForwardbookError(
                f"limiting the analysis to {self.memory_gb:g} GB and {self.seconds:g} s: both must be above 0"
            )

    @classmethod
    def given(cls, memory_gb: float | None = None, seconds: float | None = None) -> Limits:
        """What a person gave, else what the environment says, else the defaults."""
        return cls(
            _from_environment() if memory_gb is None else memory_gb,
            SECONDS if seconds is None else seconds,
        )


def _from_environment() -> float:
    text = os.environ.get(MEMORY_VARIABLE, "")
    try:
        return float(text) if text else MEMORY_GB
    except ValueError:
        raise ForwardbookError(
            f"reading {MEMORY_VARIABLE}={text!r}: a number of gigabytes was expected, such as 12"
        ) from None
