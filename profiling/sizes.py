"""Draws random sizes under which a formula claims to hold: every condition repaired until it is true."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import islice

from forwardbook.formula import Condition, FormulaError

REPAIRS = 400
CHOICES = 8  # valid draws to choose from while sizes coincide
LARGEST = 512  # a drawn size stays below this where its hint allows: runs on meta are free, real ones are not


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
    free = [name for name in hints if name not in fixed]
    best: dict[str, int] | None = None
    found = 0
    for attempt in range(attempts):
        share = 1.0 if attempt < attempts // 2 else 1.0 - attempt / (attempts * 1.5)
        sizes = {name: _value(hints[name], rng) if rng.random() <= share else hints[name] for name in free}
        sizes |= {name: _times(size, times[name], rng) for name, size in sizes.items() if name in times}
        sizes |= fixed
        if not _repair(sizes, conditions, rng, frozenset(fixed), repairs):
            continue
        found += 1
        if best is None or _faults(sizes, hints, times) < _faults(best, hints, times):
            best = sizes
        if _faults(best, hints, times) == (0, 0) or found >= CHOICES:
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


def _repair(
    sizes: dict[str, int],
    conditions: Sequence[Condition],
    rng: random.Random,
    fixed: frozenset[str],
    repairs: int,
) -> bool:
    for _ in range(repairs):
        broken = list(islice((c for c in conditions if not c.is_met(sizes)), 4))
        if not broken:
            return True
        condition = rng.choice(broken)
        names = [n for n in sorted(condition.symbols()) if n not in fixed and n in sizes]
        if not names:
            return False
        rng.shuffle(names)
        if not any(_mend(condition, name, sizes, rng) for name in names):
            for name in names:
                sizes[name] = rng.randint(1, max(4, 2 * sizes[name]))
    return False


def _mend(condition: Condition, name: str, sizes: dict[str, int], rng: random.Random) -> bool:
    """Changes one size so that the condition holds: solved where linear, else searched near, at multiples."""
    before = sizes[name]
    taken = {value for other, value in sizes.items() if other != name}
    candidates = [c for c in _candidates(condition, name, sizes, rng) if c >= 1]
    for candidate in sorted(candidates, key=lambda c: c in taken or c == 1):
        sizes[name] = candidate
        if condition.is_met(sizes):
            return True
    sizes[name] = before
    return False


def _candidates(condition: Condition, name: str, sizes: dict[str, int], rng: random.Random) -> list[int]:
    now = sizes[name]
    found: list[int] = []
    if condition.op in ("==", "<=", ">=", "<", ">"):
        try:
            gaps = []
            for value in (0, 1):
                trial = {**sizes, name: value}
                gaps.append(condition.left.evaluate(trial) - condition.right.evaluate(trial))
            slope = gaps[1] - gaps[0]
            if slope and gaps[0] % slope == 0:
                found.append(-gaps[0] // slope)
            if slope:
                around = -gaps[0] // slope
                found += [around - 1, around + 1, max(1, around // 2), around * 2]
        except (FormulaError, ZeroDivisionError):
            pass
    others = [v for n, v in sizes.items() if n in condition.symbols() and n != name]
    multiples = [v * rng.randint(1, max(1, 2 * now // max(v, 1))) for v in others for _ in range(4)]
    divisors = [d for v in others for d in _divisors(v) if d <= max(now, 8)]
    near = [now + step for step in range(1, 33)] + [max(1, now - step) for step in range(1, 17)]
    drawn = [rng.randint(1, max(2, 2 * now)) for _ in range(8)]
    rng.shuffle(divisors)
    return found + multiples + divisors[:12] + near + drawn


def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, min(number, 4096) + 1) if number % d == 0]
    return small[::-1]
