"""Sizes for concrete runs: the hints themselves, or random integers that meet a recipe's conditions."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

from forwardbook.analyzers.instances.recipe import NoRecipe, Recipe
from forwardbook.formula import Condition, parse

_DIVISIBLE = re.compile(r"\{([\w.]+)\} % (.+) == 0")
ATTEMPTS = 2000


class ChosenSizes:
    """Answers with the chosen value of a name, else its hint; remembers every name asked for."""

    def __init__(self, chosen: Mapping[str, int] | None = None) -> None:
        self.chosen = dict(chosen or {})
        self.hints: dict[str, int] = {}

    def __call__(self, name: str, hint: int, meaning: str = "", source: str = "") -> int:
        self.hints.setdefault(name, hint)
        return self.chosen.setdefault(name, hint)


def draw_sizes(recipe: Recipe, hints: Mapping[str, int], rng: random.Random) -> dict[str, int]:
    """Random sizes for every hinted name that meet the recipe's conditions, distinct where that is easy."""
    conditions = [Condition.parse(text) for text in recipe.conditions]
    best: dict[str, int] = {}
    for attempt in range(ATTEMPTS):
        sizes = {name: _draw(hint, rng) for name, hint in hints.items()}
        _make_divisible(sizes, recipe.conditions)
        if not all(condition.holds(sizes) for condition in conditions):
            continue
        if len(set(sizes.values())) == len(sizes) or attempt > ATTEMPTS // 10:
            return sizes
        best = best or sizes
    if best:
        return best
    raise NoRecipe(recipe.target, f"no random sizes satisfy {' and '.join(recipe.conditions)}")


def _draw(hint: int, rng: random.Random) -> int:
    """Around the hint; 1 only where the hint is 1, because size 1 broadcasts and is a regime of its own."""
    return rng.randint(max(min(hint, 2), hint // 2), max(2 * hint, 3))


def _make_divisible(sizes: dict[str, int], conditions: tuple[str, ...]) -> None:
    """Rounds sizes up so that the conditions `{a} % (...) == 0` hold."""
    for condition in conditions:
        if match := _DIVISIBLE.fullmatch(condition):
            divisor = max(parse(match[2]).evaluate(sizes), 1)
            sizes[match[1]] = -(-sizes[match[1]] // divisor) * divisor
