"""Counts the steps of the algebra, so that a text that needs too many is refused after as many everywhere.

What is remembered counts as what it took at first: the count of a text hangs on neither machine nor load.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Final, ParamSpec, TypeVar

from forwardbook.errors import FormulaError

P = ParamSpec("P")
R = TypeVar("R", bound=Hashable)


class WorkError(FormulaError):
    """More steps were needed than are allowed."""


class _Count(threading.local):
    """The steps so far, and those at which it ends, of one thread."""

    spent = 0
    end = sys.maxsize


_count: Final = _Count()


def spend(steps: int) -> None:
    """Count so many steps, of about a quarter of a microsecond each.

    Raises:
        WorkError: there were more than `at_most` allows.
    """
    count = _count
    count.spent += steps
    if count.spent > count.end:
        raise WorkError(f"it needs more than {count.end} steps")


@contextmanager
def at_most(steps: int) -> Iterator[None]:
    """What is done within takes at most so many steps, or raises WorkError."""
    before = (_count.spent, _count.end)
    _count.spent, _count.end = 0, steps
    try:
        yield
    finally:
        _count.spent, _count.end = before[0] + _count.spent, before[1]


def spent() -> int:
    """The steps that were counted so far."""
    return _count.spent


def remembered(room: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that remembers so many results, and counts the steps of each whenever it is asked."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @lru_cache(maxsize=room)
        def found(*args: P.args, **kwargs: P.kwargs) -> tuple[R, int]:
            before = _count.spent
            result = function(*args, **kwargs)
            spend(0)  # what came of running out of steps within is not remembered
            return result, _count.spent - before

        @wraps(function)
        def counted(*args: P.args, **kwargs: P.kwargs) -> R:
            before = _count.spent
            result, steps = found(*args, **kwargs)  # type: ignore[arg-type]  # hashable, as R is
            _count.spent = before
            spend(steps)
            return result

        return counted

    return decorate
