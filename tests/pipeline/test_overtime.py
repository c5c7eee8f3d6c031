"""Blocks end when their processor time is up, whatever they catch."""

import time

import pytest

from forwardbook.pipeline.child.overtime import Clock, Overtime


def _busy() -> None:
    while True:
        sum(range(1000))


def test_a_block_that_computes_too_long_is_ended() -> None:
    """Code that keeps every Exception does not keep this."""
    with pytest.raises(Overtime), Clock(0.05).within():
        while True:
            try:
                _busy()
            except Exception:
                continue


def test_waiting_is_no_work() -> None:
    """Time by the clock does not count: on a busy machine the same code does the same."""
    with Clock(0.2).within():
        time.sleep(0.3)


def test_after_a_block_nothing_ends_anything() -> None:
    """The timer goes with the block."""
    with Clock(5).within(0.05):
        pass
    begin = time.process_time()
    while time.process_time() - begin < 0.1:
        pass


def test_nothing_begins_when_time_is_up() -> None:
    """A clock that has run out refuses at once."""
    with pytest.raises(Overtime), Clock(-1).within():
        raise AssertionError("the block ran")
