"""Draws random sizes under which a formula claims to hold: every condition repaired until it is true."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction

from forwardbook.formula import Condition
from forwardbook.profiling.impossible import is_impossible
from forwardbook.profiling.mending import Mending

REPAIRS = 160  # of those that succeed 99 in 100 take fewer than 60, and the longest that was seen 136
LARGEST = 512  # a drawn size stays below this where its hint allows: runs on meta are free, real ones are not
LEAPS = 6  # draws of all sizes at once before walks: where so many fail, hundreds do
WALKS = 3  # walks from the hints, of which the best is taken
STEP = 12  # repairs for one step of a walk
TRIES = 2  # values that a step tries for a size


def draw(
    hints: Mapping[str, int],
    conditions: Sequence[Condition],
    rng: random.Random,
    fixed: Mapping[str, int] | None = None,
    attempts: int = 60,
    repairs: int = REPAIRS,
    scale: Mapping[str, int | Fraction] | None = None,
) -> dict[str, int] | None:
    """Sizes for all names in `hints` that satisfy all conditions, those of `fixed` kept; None if none are.

    As many sizes as possible differ from their hints and from each other. Those of `scale` are drawn so many
    times larger than usual, or smaller. Up to half of the attempts draw all sizes at once; where none of them
    comes to satisfy all conditions, the others walk there from the hints.
    """
    fixed = dict(fixed or {})
    if is_impossible(hints, conditions, fixed):
        return None
    drawing = _Drawing(hints, fixed, scale or {}, Mending(conditions), rng, repairs)
    leaps = min(LEAPS, max(1, attempts // 2))
    best: dict[str, int] | None = None
    for attempt in range(min(attempts, leaps + WALKS)):
        if attempt == leaps and best is not None:
            break
        sizes = drawing.leap() if attempt < leaps else drawing.walk()
        if sizes is None:
            continue
        if best is None or drawing.faults(sizes) < drawing.faults(best):
            best = sizes
        if drawing.faults(best) == (0, 0):
            break
    return best


class _Drawing:
    """One draw: what is known, and ways of finding sizes that satisfy all conditions."""

    def __init__(
        self,
        hints: Mapping[str, int],
        fixed: Mapping[str, int],
        times: Mapping[str, int | Fraction],
        mending: Mending,
        rng: random.Random,
        repairs: int,
    ) -> None:
        self._hints, self._fixed, self._times = hints, fixed, times
        self._mending, self._rng, self._repairs = mending, rng, repairs
        self._free = [name for name in hints if name not in fixed]
        self._still = frozenset(fixed)

    def leap(self) -> dict[str, int] | None:
        """All sizes drawn at once, then repaired."""
        sizes = {name: self._value(name) for name in self._free} | dict(self._fixed)
        self._mending.forget()
        return sizes if self._mending.mend(sizes, self._rng, self._still, self._repairs) else None

    def walk(self) -> dict[str, int] | None:
        """From the hints, a size at a time: others follow, or it stays as it was."""
        sizes = {**self._hints, **self._fixed}
        self._mending.forget()
        if not self._mending.mend(sizes, self._rng, self._still, self._repairs):
            return None
        order = self._free.copy()
        self._rng.shuffle(order)
        for name in order:
            for _ in range(TRIES):
                if sizes[name] != self._hints[name]:
                    break  # it changed with another
                before, known = sizes.copy(), self._mending.known
                sizes[name] = self._value(name)
                self._mending.changed(name)
                if not self._mending.mend(sizes, self._rng, self._still | {name}, STEP):
                    sizes.update(before)
                    self._mending.back(known)
        return sizes

    def _value(self, name: str) -> int:
        size = _value(self._hints[name], self._rng)
        return _times(size, self._times[name], self._rng) if name in self._times else size

    def faults(self, sizes: Mapping[str, int]) -> tuple[int, int]:
        """How many sizes are not as far from their hints as they should be, and how many coincide."""
        largest = {
            n: 2 * max(self._times.get(n, 1), 1) * max(LARGEST, hint) for n, hint in self._hints.items()
        }
        near = sum(_is_near(sizes[n], self._hints[n], scale) for n, scale in self._times.items())
        return near + sum(size > largest[name] for name, size in sizes.items()), _coinciding(sizes)


def _is_near(size: int, hint: int, scale: int | Fraction) -> bool:
    """Whether a size that was to be far from its hint came back half of the way."""
    return 2 * size < hint * scale if scale >= 1 else size > max(2, 4 * hint * scale)


def _coinciding(sizes: Mapping[str, int]) -> int:
    """How many sizes equal another: one could stand for the other in a formula unnoticed."""
    return len(sizes) - len(set(sizes.values()))


def _times(size: int, scale: int | Fraction, rng: random.Random) -> int:
    """A size so many times larger, odd as often as even, or smaller, but not 1; 1 stays."""
    if size <= 1:
        return size
    if scale < 1:
        return max(2, int(size * scale))
    return size * int(scale) + rng.randint(0, int(scale) - 1) * rng.randint(0, 1)


def _value(hint: int, rng: random.Random) -> int:
    if hint <= 2:
        return rng.randint(2, 4) if hint == 2 else hint
    top = min(max(2 * hint, 6), LARGEST)
    return rng.randint(max(2, min(hint // 3, top // 4)), top)
