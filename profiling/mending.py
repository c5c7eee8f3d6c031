"""Sizes in; sizes that satisfy conditions out: those that break one are changed, a single one at a time."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import isqrt

from forwardbook.formula import Condition, FormulaError
from forwardbook.formula.expr import Known

LARGEST_DIVISOR = 4096
FAR = 12  # doublings: seven strided convolutions in a row take thousands of samples for each that they give
_AT_ONCE = 4  # broken conditions of which one is chosen
_ORDERS = ("<", "<=", ">", ">=")

Knowledge = tuple[bool | None, ...]
"""Which conditions hold at some sizes, as far as they were asked."""


class Mending:
    """Changes sizes until conditions hold; each is asked again only where one of its sizes has changed."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        # short ones are asked first: long ones seldom fail where those hold, and take a hundred times as long
        self._conditions = sorted(conditions, key=lambda one: len(one.text()))
        self._about: dict[str, list[int]] = {}
        for place, condition in enumerate(self._conditions):
            for name in condition.symbols():
                self._about.setdefault(name, []).append(place)
        self._known: list[bool | None] = []
        self.forget()

    def forget(self) -> None:
        """The sizes are others altogether."""
        self._known = [None] * len(self._conditions)

    @property
    def known(self) -> Knowledge:
        """What is known of the sizes as they are, for when they come back."""
        return tuple(self._known)

    def back(self, known: Knowledge) -> None:
        """The sizes are again what they were when this was known."""
        self._known = list(known)

    def changed(self, name: str) -> None:
        """A size has another value."""
        for place in self._about.get(name, ()):
            self._known[place] = None

    def mend(self, sizes: dict[str, int], rng: random.Random, fixed: frozenset[str], repairs: int) -> bool:
        """Whether all conditions hold after so many changes at most; none is made to what is `fixed`."""
        for _ in range(repairs):
            broken = self._broken(sizes)
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
                self.changed(name)
        return False

    def _broken(self, sizes: Mapping[str, int]) -> list[Condition]:
        """The first conditions that do not hold."""
        found: list[Condition] = []
        values: Known = {}
        for place, condition in enumerate(self._conditions):
            known = self._known[place]
            if known is None:
                known = self._known[place] = condition.is_met(sizes, values)
            if not known:
                found.append(condition)
                if len(found) == _AT_ONCE:
                    break
        return found


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
