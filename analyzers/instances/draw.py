"""Sizes for concrete runs: the hints themselves, or random integers that meet a recipe's conditions."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Collection, Mapping

from forwardbook.analyzers.instances.recipe import NoRecipe, Recipe
from forwardbook.formula import Condition, parse

_DIVISIBLE = re.compile(r"\{([\w.]+)\} % (.+) == 0")
_EQUAL = re.compile(r"\{([\w.]+)\} == ([^%]+)")
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
    demands = {text: Condition.parse(text) for text in recipe.conditions}
    demands = {text: c for text, c in demands.items() if c.symbols() <= hints.keys()}
    best: dict[str, int] = {}
    for attempt in range(ATTEMPTS):
        sizes = {name: _draw(hint, rng) for name, hint in hints.items()}
        _mend(sizes, demands)
        if not all(condition.holds(sizes) for condition in demands.values()):
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


def _mend(sizes: dict[str, int], texts: Collection[str]) -> None:
    """Rounds sizes up where `{a} % (...) == 0` demands it, and sets them where `{a} == ...` does."""
    for match in filter(None, map(_EQUAL.fullmatch, texts)):
        sizes[match[1]] = max(parse(match[2]).evaluate(sizes), 1)
    divisors: dict[str, int] = {}
    for match in filter(None, map(_DIVISIBLE.fullmatch, texts)):
        divisor = max(parse(match[2]).evaluate(sizes), 1)
        divisors[match[1]] = math.lcm(divisors.get(match[1], 1), divisor)
        sizes[match[1]] = -(-sizes[match[1]] // divisors[match[1]]) * divisors[match[1]]
    for match in filter(None, map(_EQUAL.fullmatch, texts)):
        sizes[match[1]] = max(parse(match[2]).evaluate(sizes), 1)


# Sizes that other sizes or values of inputs must agree with, so that dividing them breaks the model.
_FIXED = re.compile(
    r"(image|patch|window|position|num_|\bn_(?!embd)|token|rank|kernel|stride|_len|length|batch|depth|layer"
    r"|distance|expand)"
)


def scaled(hints: Mapping[str, int], divisor: int) -> dict[str, int]:
    """The hints with large widths divided: the model stays consistent and fits a small machine."""
    return {
        name: hint // divisor
        if hint >= 4 * divisor and hint % divisor == 0 and not _FIXED.search(name)
        else hint
        for name, hint in hints.items()
    }
