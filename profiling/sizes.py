"""Draws random sizes under which a formula claims to hold: every condition repaired until it is true."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import isqrt

from forwardbook.formula import Condition, FormulaError
from forwardbook.formula.expr import Known
from forwardbook.profiling.impossible import is_impossible

REPAIRS = 160  # of those that succeed 99 in 100 take fewer than 60, and the longest that was seen 136
CHOICES = 8  # valid draws to choose from while sizes coincide
MANY = 24  # sizes, of which some always coincide: strides and kernels of many layers are all small
LARGEST = 512  # a drawn size stays below this where its hint allows: runs on meta are free, real ones are not
LARGEST_DIVISOR = 4096
_ORDERS = ("<", "<=", ">", ">=")
FAR = 12  # doublings: seven strided convolutions in a row take thousands of samples for each that they give


def draw(
    hints: Mapping[str, int],
    conditions: Sequence[Condition],
    rng: random.Random,
    fixed: Mapping[str, int] | None = None,
    attempts: int = 60,
    repairs: int = REPAIRS,
    scale: Mapping[str, int] | None = None,
) -> dict[str, int] | None:
    """Sizes for all names in `hints` that satisfy all conditions, those of `fixed` kept; None if none are.

    As many sizes as possible differ from their hints and from each other. Those of `scale` are drawn so many
    times larger than usual.
    """
    times = scale or {}
    fixed = dict(fixed or {})
    if is_impossible(hints, conditions, fixed):
        return None
    free = [name for name in hints if name not in fixed]
    choices = CHOICES if len(free) <= MANY else 2
    best: dict[str, int] | None = None
    found = 0
    for attempt in range(attempts):
        share = min(1.0, 2.0 - 2 * (attempt + 1) / attempts)  # the last one starts at the hints
        sizes = {name: _value(hints[name], rng) if rng.random() <= share else hints[name] for name in free}
        sizes |= {name: _times(size, times[name], rng) for name, size in sizes.items() if name in times}
        sizes |= fixed
        if not _repair(sizes, conditions, rng, frozenset(fixed), repairs):
            continue
        found += 1
        if best is None or _faults(sizes, hints, times) < _faults(best, hints, times):
            best = sizes
        if _faults(best, hints, times) == (0, 0) or found >= choices:
            break
    return best


def _faults(sizes: Mapping[str, int], hints: Mapping[str, int], times: Mapping[str, int]) -> tuple[int, int]:
    """How many sizes grew far beyond their hints, and how many coincide: the fewer the better."""
    largest = {name: 2 * times.get(name, 1) * max(LARGEST, hint) for name, hint in hints.items()}
    return sum(size > largest[name] for name, size in sizes.items()), _coinciding(sizes)


def _coinciding(sizes: Mapping[str, int]) -> int:
    """How many sizes equal another: one could stand for the other in a formula unnoticed."""
    return len(sizes) - len(set(sizes.values()))


def _times(size: int, scale: int, rng: random.Random) -> int:
    """A size so many times larger, odd as often as even; 1 stays."""
    return size if size == 1 else size * scale + rng.randint(0, scale - 1) * rng.randint(0, 1)


def _value(hint: int, rng: random.Random) -> int:
    if hint <= 2:
        return rng.randint(2, 4) if hint == 2 else hint
    top = min(max(2 * hint, 6), LARGEST)
    return rng.randint(max(2, min(hint // 3, top // 4)), top)


class _Met:
    """Which conditions hold: each is asked again only where one of its sizes has changed."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self._conditions = conditions
        self._known: list[bool | None] = [None] * len(conditions)
        self._about: dict[str, list[int]] = {}
        for place, condition in enumerate(conditions):
            for name in condition.symbols():
                self._about.setdefault(name, []).append(place)

    def changed(self, name: str) -> None:
        """A size has another value."""
        for place in self._about.get(name, ()):
            self._known[place] = None

    def broken(self, sizes: Mapping[str, int], most: int) -> list[Condition]:
        """The first conditions that do not hold."""
        found: list[Condition] = []
        values: Known = {}
        for place, condition in enumerate(self._conditions):
            known = self._known[place]
            if known is None:
                known = self._known[place] = condition.is_met(sizes, values)
            if not known:
                found.append(condition)
                if len(found) == most:
                    break
        return found


def _repair(
    sizes: dict[str, int],
    conditions: Sequence[Condition],
    rng: random.Random,
    fixed: frozenset[str],
    repairs: int,
) -> bool:
    met = _Met(conditions)
    for _ in range(repairs):
        broken = met.broken(sizes, 4)
        if not broken:
            return True
        condition = rng.choice(broken)
        names = [n for n in sorted(condition.symbols()) if n not in fixed and n in sizes]
        if not names:
            return False
        rng.shuffle(names)
        mended = next((name for name in names if _mend(condition, name, sizes, rng)), None)
        if mended is None:
            for name in names:
                sizes[name] = rng.randint(1, max(4, 2 * sizes[name]))
        for name in names if mended is None else [mended]:
            met.changed(name)
    return False


def _mend(condition: Condition, name: str, sizes: dict[str, int], rng: random.Random) -> bool:
    """Changes one size so that the condition holds: solved where linear, else searched near, at multiples."""
    before = sizes[name]
    taken = {value for other, value in sizes.items() if other != name} | {1}
    second: list[int] = []

    def fits(candidate: int) -> bool:
        sizes[name] = candidate
        return condition.is_met(sizes)

    for candidate in _each(_candidates(condition, name, sizes, rng)):
        if candidate in taken:  # one that another size has, or 1, is the second best
            second.append(candidate)
        elif fits(candidate):
            return True
    if any(map(fits, second)):
        return True
    sizes[name] = before
    return False


def _each(candidates: Iterable[Iterable[int]]) -> Iterator[int]:
    """Every candidate from 1 on, once, as it is asked for."""
    seen: set[int] = set()
    for one in chain.from_iterable(candidates):
        if one >= 1 and one not in seen:
            seen.add(one)
            yield one


def _candidates(
    condition: Condition, name: str, sizes: dict[str, int], rng: random.Random
) -> Iterator[list[int]]:
    now = sizes[name]
    yield _solutions(condition, name, sizes)
    drawn = [rng.randint(1, max(2, 2 * now)) for _ in range(8)]
    if condition.op in _ORDERS:
        found = _threshold(condition, name, sizes)
        # beyond it whatever is larger, or smaller, does as well; where no end does, little helps
        yield [*found, *(one + step for one in found for step in (1, -1, 2, -2)), *drawn]
        return
    near = [*range(now + 1, now + 33), *(max(1, now - step) for step in range(1, 17))]
    symbols = condition.symbols()
    others = [v for n, v in sizes.items() if n in symbols and n != name]
    yield [v * rng.randint(1, max(1, 2 * now // max(v, 1))) for v in others for _ in range(4)]
    divisors = [d for v in others for d in _divisors(v) if d <= max(now, 8)]
    rng.shuffle(divisors)
    yield divisors[:12]
    yield near
    yield drawn
    if condition.op == "!=":
        yield [scaled for step in range(1, FAR) for scaled in (now << step, now >> step)]


def _threshold(condition: Condition, name: str, sizes: dict[str, int]) -> list[int]:
    """The size nearest to what it is, among larger and among smaller ones, at which an inequality holds."""
    now, found = sizes[name], []
    for end in (now << FAR - 1, 1):
        sizes[name] = end
        if not condition.is_met(sizes):
            continue
        inside, outside = end, now
        while abs(inside - outside) > 1:
            sizes[name] = middle = (inside + outside) // 2
            inside, outside = (middle, outside) if condition.is_met(sizes) else (inside, middle)
        found.append(inside)
    sizes[name] = now
    return found


def _solutions(condition: Condition, name: str, sizes: dict[str, int]) -> list[int]:
    """Where both sides are equal, and near there, if their difference is linear in the size."""
    if condition.op == "!=":
        return []
    before, gaps = sizes[name], []
    try:
        for value in (0, 1):
            sizes[name] = value
            gaps.append(condition.left.evaluate(sizes) - condition.right.evaluate(sizes))
    except FormulaError:
        return []
    finally:
        sizes[name] = before
    slope = gaps[1] - gaps[0]
    if not slope:
        return []
    around = -gaps[0] // slope
    exact = [around] if gaps[0] % slope == 0 else []
    return [*exact, around - 1, around + 1, max(1, around // 2), around * 2]


@lru_cache(maxsize=4096)
def _divisors(number: int) -> tuple[int, ...]:
    """Those up to a bound, the largest first."""
    small = [d for d in range(1, min(isqrt(number), LARGEST_DIVISOR) + 1) if number % d == 0]
    return tuple(sorted({d for s in small for d in (s, number // s) if d <= LARGEST_DIVISOR}, reverse=True))
