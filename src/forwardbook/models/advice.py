"""What a call needs of a device's memory, as a function of its sizes, in; the largest sizes that fit out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from forwardbook.models.roofline import Bound, Device

LARGEST_BATCH: Final = 1 << 20
LARGEST_CONTEXT: Final = 1 << 24


def largest(fits: Callable[[int], bool], most: int, least: int = 1) -> int:
    """The largest number from `least` to `most` that fits, where whatever is smaller fits too; else 0."""
    if not fits(least):
        return 0
    low = least
    while low < most and fits(min(2 * low, most)):
        low = min(2 * low, most)
    high = min(2 * low, most + 1)  # the first known not to fit, or beyond the end
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class Speed:
    """One phase at one point on a device: what bounds it, and the least time of a call."""

    phase: str
    bound: Bound
    fused_bound: Bound
    eager: float
    fused: float


@dataclass(frozen=True)
class Advice:
    """What fits into a device: the largest batch at a context, and the largest context at batch sizes."""

    device: Device
    weight_bytes: int
    context: int
    batch: int
    largest_batch: int
    largest_context: int
    frontier: tuple[tuple[int, int], ...]
    speeds: tuple[Speed, ...]
    limits: tuple[str, ...] = ()
