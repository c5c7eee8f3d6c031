"""Work in processes of its own, and work that takes too long."""

from __future__ import annotations

import os
import signal

import pytest

from forwardbook.pipeline.apart import Ended, OutOfTime, each_apart, time_limit


def halved(number: int) -> int:
    """Half of an even number; the process of 3 is killed, that of any other odd one raises."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if number % 2:
        raise ValueError(number)
    return number // 2


def test_a_process_that_dies_costs_its_own_task_alone() -> None:
    """The others have their results, and what ended is told."""
    found = dict(each_apart(halved, [2, 3, 4, 5], 2))

    assert (1, 2) == (found[2], found[4])
    assert isinstance(found[3], Ended)
    assert isinstance(found[5], Ended)
    assert "ValueError" in found[5].why


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
