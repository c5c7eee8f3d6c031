"""Sizes close to those of a run at which one of its conditions is broken and the others still hold."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from forwardbook.formula import Condition
from forwardbook.formula.condition import negated

PAIRS: Final = 80
"""Tries with several sizes changed at once, after each was changed alone."""

VAST: Final = 1 << 20
"""A condition with such a number is not broken by trying."""


def is_vast(condition: Condition) -> bool:
    """Whether a condition has a number that no size comes near."""
    numbers = [abs(int(c)) for side in (condition.left, condition.right) for c in side.terms.values()]
    return max(numbers, default=0) >= VAST


def breaking(
    condition: Condition,
    others: Sequence[Condition],
    sizes: Mapping[str, int],
    fixed: Mapping[str, int],
    rng: random.Random,
) -> Iterator[dict[str, int]]:
    """Sizes that break a condition and meet the others, those of `fixed` as they are."""
    wanted = [negated(condition), *others]
    names = sorted(condition.symbols() & sizes.keys() - fixed.keys())
    start = {**sizes, **fixed}
    for one in itertools.chain(_alone(names, start), _several(names, start, rng)):
        if all(each.is_met(one) for each in wanted):
            yield one


def _alone(names: Sequence[str], start: Mapping[str, int]) -> Iterator[dict[str, int]]:
    for name in names:
        for value in _values(start[name]):
            yield {**start, name: value}


def _several(names: Sequence[str], start: Mapping[str, int], rng: random.Random) -> Iterator[dict[str, int]]:
    for _ in range(PAIRS if len(names) > 1 else 0):
        some = rng.sample(names, rng.randint(2, min(3, len(names))))
        yield {**start, **{name: rng.choice(_values(start[name])) for name in some}}


def _values(size: int) -> list[int]:
    """Other values of a size, those close by first."""
    tried = (
        size + 1,
        size - 1,
        size + 2,
        2 * size,
        2 * size + 1,
        size // 2,
        4 * size,
        8 * size,
        64 * size,
        2,
        1,
    )
    return [value for value in dict.fromkeys(tried) if value >= 1 and value != size]
