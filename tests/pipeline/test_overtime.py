"""Blocks end when their processor time is up, whatever they catch."""

import time

import pytest

from forwardbook.pipeline.child import overtime
from forwardbook.pipeline.child.overtime import Clock, Overtime


def _busy() -> None:
    while True:
        sum(range(1000))


def _busy_for(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_block_that_computes_too_long_is_ended() -> None:
    """Code that keeps every Exception does not keep this."""
    with pytest.raises(Overtime), Clock(0.05).within():
        while True:
            try:
                _busy()
            except Exception:
                continue


class Deaf:
    """Its finaliser takes long, and Python ignores what is raised within."""

    def __del__(self) -> None:
        _busy_for(0.2)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_block_ends_though_a_finaliser_kept_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is up while a finaliser runs, which keeps it; soon after it is up again."""
    monkeypatch.setattr(overtime, "AGAIN", 0.3)
    with pytest.raises(Overtime), Clock(0.1).within():
        Deaf()
        _busy_for(5)


def test_waiting_is_no_work() -> None:
    """Time by the clock does not count: on a busy machine the same code does the same."""
    with Clock(0.2).within():
        time.sleep(0.3)


def test_after_a_block_nothing_ends_anything() -> None:
    """The timer goes with the block."""
    with Clock(5).within(0.05):
        pass
    _busy_for(0.1)


def test_nothing_begins_when_time_is_up() -> None:
    """A clock that has run out refuses at once."""
    with pytest.raises(Overtime), Clock(-1).within():
        raise AssertionError("the block ran")
