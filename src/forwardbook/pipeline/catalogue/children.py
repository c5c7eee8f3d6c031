"""A library and how many units there are in; out how their processes are had: forked, if that is worth it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from forwardbook.pipeline.child.fork_server import Forks
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Request, Response

WARMER: Final = "forwardbook.pipeline.catalogue.warm:warm"
FEW: Final = 2  # units for each job: fewer are not worth a process that prepares for them
Run = Callable[[Request, Limits, str], Response]


@contextmanager
def children(library: str, units: int, jobs: int, examples: Sequence[str] = ()) -> Iterator[Run]:
    """Inside, how a unit's process is had; `examples` are classes that are read in advance."""
    with Forks(WARMER, (library, *examples)) as forks:
        worth = sys.platform == "linux" and units > FEW * jobs
        yield forks.run if worth else run_child
