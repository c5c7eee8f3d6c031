"""Work in processes of its own, and work that takes too long."""

from __future__ import annotations

import math
import signal

import pytest

from forwardbook.pipeline.apart import Ended, OutOfTime, each_apart, time_limit


def test_a_process_that_dies_costs_its_own_task_alone() -> None:
    """The other one, whose signal means nothing, has its result."""
    found = dict(each_apart(signal.raise_signal, [signal.SIGKILL, signal.SIGCHLD], 2))

    assert isinstance(found[signal.SIGKILL], Ended)
    assert None is found[signal.SIGCHLD]


def test_what_a_task_raises_is_told() -> None:
    """By its type, in place of a result."""
    found = dict(each_apart(math.sqrt, [4, -4], 1))

    assert 2 == found[4]
    assert Ended("its process ended: ValueError") == found[-4]


def test_work_that_hides_exceptions_ends_when_its_time_is_over() -> None:
    """Also where it catches every Exception."""
    count = 0
    with pytest.raises(OutOfTime), time_limit(0.05):
        while True:
            try:
                count += 1
            except Exception:  # noqa: BLE001, S112 - as analysed code may do
                continue
    assert count


def test_work_within_its_time_is_left_alone() -> None:
    """And no signal comes later."""
    with time_limit(0.2):
        pass
    assert sum(range(4_000_000)) > 0
