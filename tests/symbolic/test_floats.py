"""What Python makes of floats of sizes is a formula where that is right for all sizes, and else said."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from forwardbook.analyzers.symbolic.bridges import teach_torch
from forwardbook.analyzers.symbolic.expressions import Expressions
from forwardbook.analyzers.symbolic.followed import numbers_followed
from forwardbook.analyzers.symbolic.ledger import Ledger
from forwardbook.formula import Condition, Expr, FormulaError

TRIALS = 2000
Made = tuple[Expr, list[Condition]]

# int, float and math in this file are those of Python; inside `numbers_followed` they keep symbols
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "int(n * 1.15)": lambda n, m: int(n * 1.15),
    "int(n * 0.57)": lambda n, m: int(n * 0.57),
    "int(n * 0.29)": lambda n, m: int(n * 0.29),
    "int(n * 2.7)": lambda n, m: int(n * 2.7),
    "int(n * (8 / 3))": lambda n, m: int(n * (8 / 3)),
    "int(8 * n / 3)": lambda n, m: int(8 * n / 3),
    "int(n / 1.15)": lambda n, m: int(n / 1.15),
    "int(n * 1.1 * 2)": lambda n, m: int(n * 1.1 * 2),
    "int(n * 1.1 + 8 / 2) // 8 * 8": lambda n, m: int(n * 1.1 + 8 / 2) // 8 * 8,
    "int(n * (0.1 + 0.2))": lambda n, m: int(n * (0.1 + 0.2)),
    "int(n / m * m)": lambda n, m: int(n / m * m),
    "int(n / m * 0.75)": lambda n, m: int(n / m * 0.75),
    "int(n * (m / n))": lambda n, m: int(n * (m / n)),
    "int(n / 3 + m / 3)": lambda n, m: int(n / 3 + m / 3),
    "int(n * 0.5 - 50)": lambda n, m: int(n * 0.5 - 50),
    "int(-n * 1.15)": lambda n, m: int(-n * 1.15),
    "floor((n - 90) * 1.3)": lambda n, m: math.floor((n - 90) * 1.3),
    "ceil(n * 1.1)": lambda n, m: math.ceil(n * 1.1),
    "ceil(n * 0.57)": lambda n, m: math.ceil(n * 0.57),
    "round(n / 3)": lambda n, m: round(n / 3),
    "round(n / 4)": lambda n, m: round(n / 4),
    "round(n, -1)": lambda n, m: round(n, -1),
    "int(round(n / 3, 1) * 10)": lambda n, m: int(round(n / 3, 1) * 10),
    "int(n // 0.1)": lambda n, m: int(n // 0.1),
    "int(n // 2.0)": lambda n, m: int(n // 2.0),
    "int(n * 0.1 % 1 * 10)": lambda n, m: int(n * 0.1 % 1 * 10),
    "divmod(n * 1.5, 7)": lambda n, m: int(sum(divmod(n * 1.5, 7))),
    "int(min(n * 1.15, m * 2.7))": lambda n, m: int(min(n * 1.15, m * 2.7)),
    "int(max(n * 0.5, m * 0.3))": lambda n, m: int(max(n * 0.5, m * 0.3)),
    "int(float(n) * 1.3)": lambda n, m: int(float(n) * 1.3),
    "int(n ** 0.5)": lambda n, m: int(n**0.5),
    "isqrt(n)": lambda n, m: math.isqrt(n),
    "int(pow(n, 0.5))": lambda n, m: int(math.pow(n, 0.5)),
    "int(log(n, 2))": lambda n, m: int(math.log(n, 2)),
    "gcd(n, 12)": lambda n, m: math.gcd(n, 12),
    "n.bit_length()": lambda n, m: n.bit_length(),
    "n * 1.15 >= 115": lambda n, m: 5 if n * 1.15 >= 115 else 7,
    "n * 1.15 == m * 2.3": lambda n, m: 5 if n * 1.15 == m * 2.3 else 7,
}


def made(way: Callable[[Any, Any], Any], n: int, m: int) -> Made:
    """The formula of a run with two sizes, and under what conditions it holds."""
    teach_torch()
    ledger = Ledger()
    ledger.running = True
    expressions = Expressions(ledger)
    with numbers_followed():
        found = expressions.of(way(ledger.symbol("n", n), ledger.symbol("m", m)))
    assert not ledger.consumed  # nothing became a plain number on the way
    said = [*expressions.divisions, *expressions.conditions(ledger.guards)]
    return found, [condition for condition in said if not condition.is_trivially_true()]


def sizes(n: int, m: int) -> Iterator[tuple[int, int]]:
    """The sizes of the run; small ones, multiples of what ratios have below, and any others."""
    rng = random.Random(1)
    yield n, m
    for trial in range(1, TRIALS):
        ns = (trial, 20 * rng.randint(1, 5000), 100 * rng.randint(1, 300), rng.randint(1, 1 << 17), n)
        yield rng.choice(ns), rng.choice((m, rng.randint(1, 500)))


def meets(conditions: list[Condition], at: dict[str, int]) -> bool:
    try:
        return all(condition.holds(at) for condition in conditions)
    except FormulaError:
        return False


@pytest.mark.parametrize(("n", "m"), [(67, 7), (100, 50), (192, 16)])
@pytest.mark.parametrize("text", WAYS)
def test_a_formula_gives_what_python_gives_wherever_its_conditions_hold(text: str, n: int, m: int) -> None:
    """Also at n = 100, where int(n * 1.15) is 114 and 23 * n // 20 is 115."""
    found, conditions = made(WAYS[text], n, m)
    held = [(a, b) for a, b in sizes(n, m) if meets(conditions, {"n": a, "m": b})]

    assert (n, m) in held
    assert [] == [(a, b) for a, b in held if found.evaluate({"n": a, "m": b}) != int(WAYS[text](a, b))]


@pytest.mark.parametrize(
    "text", ["int(n * 2.7)", "int(n * (8 / 3))", "int(8 * n / 3)", "ceil(n * 0.57)", "round(n / 3)"]
)
@pytest.mark.parametrize("n", [67, 192])
def test_what_is_right_for_all_sizes_needs_no_condition(text: str, n: int) -> None:
    """Ratios whose floats err on the harmless side, or by so little that products round to the whole."""
    assert [] == made(WAYS[text], n, 7)[1]


def test_a_ratio_that_floats_miss_is_said_to_be_no_whole_number() -> None:
    """1.15 * n is whole for multiples of 20 alone."""
    assert ["{n} % 20 != 0"] == [c.text() for c in made(WAYS["int(n * 1.15)"], 67, 7)[1]]
