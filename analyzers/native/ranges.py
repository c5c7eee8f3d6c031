"""Turns byte ranges that do not overlap into an answer to: does a byte lie in one of them?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class Ranges:
    """Byte ranges without overlap, in the order of the text."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._ranges = sorted(ranges)
        self._starts = [start for start, _ in self._ranges]

    def around(self, byte: int) -> tuple[int, int] | None:
        """The range a byte lies in, or nothing."""
        at = bisect_right(self._starts, byte) - 1
        return self._ranges[at] if at >= 0 and byte < self._ranges[at][1] else None
