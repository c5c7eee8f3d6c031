"""Work in processes of its own."""

from __future__ import annotations

import math
import signal
from functools import partial

from forwardbook.pipeline.apart import Ended, apart
from forwardbook.pipeline.spread import Spread


def test_a_process_that_dies_costs_its_own_task_alone() -> None:
    """The other one, whose signal means nothing, has its result."""
    found = list(Spread(2)(partial(apart, signal.raise_signal), [signal.SIGKILL, signal.SIGCHLD]))

    [ended] = (one for one in found if isinstance(one, Ended))
    assert signal.SIGKILL == ended.task
    assert None in found


def test_what_a_task_raises_is_told() -> None:
    """By its type, in place of a result."""
    assert 2 == apart(math.sqrt, 4)
    assert Ended(-4, "its process ended: ValueError") == apart(math.sqrt, -4)
