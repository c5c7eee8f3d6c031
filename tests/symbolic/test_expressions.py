"""Nodes become exact expressions; what those take for granted becomes conditions."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.expressions import Expressions
from forwardbook.analyzers.symbolic.ledger import Ledger, number_of
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.formula import Expr, FormulaError

HIDDEN, HEADS = Expr.symbol("hidden"), Expr.symbol("heads")


class Run:
    """A ledger, its expressions, and two sizes."""

    def __init__(self, hidden: int = 12, heads: int = 4) -> None:
        self.ledger = Ledger()
        self.ledger.running = True
        self.expressions = Expressions(self.ledger)
        self.hidden = self.ledger.symbol("hidden", hidden)
        self.heads = self.ledger.symbol("heads", heads)

    def divisions(self) -> list[str]:
        return [c.text() for c in self.expressions.divisions]

    def guards(self) -> list[str]:
        return [c.text() for c in self.expressions.conditions(self.ledger.guards)]


def test_floor_division_stays_a_floor() -> None:
    """hidden // heads is a floor whether or not this run has a rest, and takes nothing for granted."""
    even, odd = Run(hidden=12), Run(hidden=13)
    quotients = [run.expressions.of(run.hidden // run.heads) for run in (even, odd)]

    assert [HIDDEN.floordiv(HEADS)] * 2 == quotients
    assert [3, 5] == [quotients[0].evaluate({"hidden": n, "heads": 4}) for n in (13, 23)]
    assert [] == even.divisions() + odd.divisions()


def test_division_that_cancels_is_a_polynomial() -> None:
    """hidden * heads // heads is hidden, and a window count keeps its floor."""
    run = Run()

    assert HIDDEN == run.expressions.of(run.hidden * run.heads // run.heads)
    assert (HIDDEN - 2).floordiv(2) + 1 == run.expressions.of((run.hidden - 3 + 1) // 2 + 1)


def test_a_bound_that_is_a_ratio_is_asked_of_whole_numbers() -> None:
    """`hidden < 0.9 * 512` is a comparison of whole numbers, which sizes meet or not."""
    run = Run(hidden=512)
    assert not run.hidden < 0.9 * 512

    [said] = [c for guard in run.ledger.guards for c in run.expressions.conditions([guard])]

    assert [False, True] == [said.is_met({"hidden": hidden}) for hidden in (460, 461)]


def test_a_bound_that_is_a_share_of_a_size_is_met_where_the_share_is_no_whole_number() -> None:
    """`heads >= 0.675 * hidden` and `heads / hidden > 0` hold for the sizes of the run that found them so."""
    run = Run(hidden=16, heads=16)
    assert run.heads >= 0.675 * run.hidden
    small = Run(hidden=12, heads=5)
    assert small.heads / small.hidden > 0

    said = [c for one in (run, small) for c in one.expressions.conditions(one.ledger.guards)]

    assert [True, False] == [said[0].is_met({"hidden": 16, "heads": heads}) for heads in (11, 10)]
    assert all(condition.is_met({"hidden": 12, "heads": 5}) for condition in said[1:])


@pytest.mark.parametrize("ratio", [0.34, 1.2, 0.75, 3.3])
def test_rounding_to_the_nearest_is_what_python_rounds_to(ratio: float) -> None:
    """round(hidden * ratio) is a floor that equals Python's wherever its condition (no half) holds."""
    run = Run(hidden=37)
    found = run.expressions.of(torch.sym_int(round(run.hidden * ratio)))
    sizes = [{"hidden": hidden} for hidden in range(1, 400)]
    held = [one for one in sizes if all(c.holds(one) for c in run.expressions.divisions)]

    assert len(held) > 250
    assert [round(one["hidden"] * ratio) for one in held] == [found.evaluate(one) for one in held]


def test_half_way_between_two_is_not_expressed() -> None:
    """A run in which the rounded number is half way says nothing of the others: Python rounds to even."""
    run = Run(hidden=5)

    assert Expr.const(2) == run.expressions.of(torch.sym_int(round(run.hidden * 0.5)))
    assert [2] == list(run.expressions.opaque.values())


def test_ratio_of_a_configuration_is_exact() -> None:
    """int(hidden * 4.0) is 4 hidden; with 2.5 it is 5 hidden / 2 if that is whole."""
    run = Run()

    assert HIDDEN * 4 == run.expressions.of(torch.sym_int(run.hidden * 4.0))
    assert [] == run.divisions()
    assert (HIDDEN * 5).exact_div(Expr.const(2)) == run.expressions.of(torch.sym_int(run.hidden * 2.5))
    assert 1 == len(run.divisions())


def test_ratio_rounded_up_is_a_ceiling() -> None:
    """A ratio with a rest, rounded up, is a ceiling; one without is the ratio, under a condition."""
    uneven, even = Run(hidden=13), Run(hidden=12)
    found = [run.expressions.of((run.hidden / run.heads).node.ceil()) for run in (uneven, even)]

    assert [4, 3] == [found[0].evaluate({"hidden": n, "heads": 4}) for n in (13, 12)]
    assert HIDDEN.exact_div(HEADS) == found[1]
    assert ([], ["{hidden} % {heads} == 0"]) == (uneven.divisions(), even.divisions())
    bits = even.expressions.mark((even.hidden / even.heads).node.ceil())
    assert even.divisions() == [c.text() for c in even.expressions.marked(bits)]
    assert 0 == even.expressions.mark(even.hidden)


def test_stride_of_a_tensor_that_may_be_empty_is_its_size() -> None:
    """max(1, x), as torch writes strides, is x."""
    run = Run()

    assert HIDDEN == run.expressions.of(torch.sym_max(1, run.hidden))
    assert Expr.maximum(HIDDEN, HEADS) == run.expressions.of(torch.sym_max(run.hidden, run.heads))


def test_value_without_expression_is_its_number_and_noted() -> None:
    """A float that is no ratio of small integers has no exact expression: the number is used, and said."""
    run = Run()
    size = run.expressions.of(torch.sym_int(run.hidden * 0.7310585786))

    assert Expr.const(8) == size
    assert [8] == list(run.expressions.opaque.values())


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda r: r.hidden > r.heads, ["{hidden} > {heads}"]),
        (lambda r: r.hidden == r.heads, ["{hidden} != {heads}"]),
        (lambda r: torch.sym_not(r.hidden < 5), ["{hidden} >= 5"]),
        (lambda r: r.hidden >= 1, []),
        (lambda r: r.hidden % r.heads == 0, ["{hidden} % {heads} == 0"]),
        (lambda r: (r.hidden > 5).__and__(r.heads > 3), ["{hidden} > 5", "{heads} > 3"]),
        (lambda r: (r.hidden > 5).__or__(r.heads > 9), ["{hidden} > 5"]),
    ],
)
def test_guards_become_conditions(ask: Callable[[Run], torch.SymBool], said: list[str]) -> None:
    """A comparison is a condition in the direction of its answer; one that is always true says nothing."""
    run = Run()
    bool(ask(run))

    assert said == run.guards()


NUMBERS = st.integers(1, 6)
OPERATORS = st.sampled_from(["+", "-", "*", "//", "%", "max", "min"])
STEPS = st.lists(st.tuples(OPERATORS, NUMBERS, NUMBERS), max_size=6)


def _program(steps: list[tuple[str, int, int]], start: list[object]) -> object:
    """Applies each step to two earlier values, with both kinds of operand."""
    values = list(start)
    for op, i, j in steps:
        a, b = values[i % len(values)], values[j % len(values)]
        match op:
            case "+":
                values.append(a + b)
            case "-":
                values.append(a - b + 1)
            case "*":
                values.append(a * b)
            case "//":
                values.append(a // j if j % 2 else a // start[1])
            case "%":
                values.append(a % start[1])
            case "max":
                values.append(torch.sym_max(a, b))
            case "min":
                values.append(torch.sym_min(a, b))
    return values[-1]


@settings(max_examples=120, deadline=None)
@given(STEPS, NUMBERS, NUMBERS, st.integers(1, 40), st.integers(1, 9))
def test_expressions_hold_at_other_sizes(
    steps: list[tuple[str, int, int]], a: int, b: int, other_a: int, other_b: int
) -> None:
    """An expression has Python's value at this run's sizes, and at others that meet its conditions."""
    run = Run(a, b)
    value = _program(steps, [run.hidden, run.heads, 3])
    found = run.expressions.of(value)

    assert number_of(value) == found.evaluate({"hidden": a, "heads": b})
    there = {"hidden": other_a, "heads": other_b}
    try:
        met = all(c.holds(there) for c in run.expressions.divisions)
    except FormulaError:
        met = False
    if met:
        assert _program(steps, [other_a, other_b, 3]) == found.evaluate(there)


def test_equations_are_said_without_common_factors() -> None:
    """`a * b == 8 * a` is `b == 8`; a size that is 0 in this run is no factor, nor any of an inequality."""
    ledger = Ledger()
    a, b, none = ledger.symbol("a", 3), ledger.symbol("b", 8), ledger.symbol("none", 0)
    for asked in (a * b == 8 * a, none * b == 7 * none, a * b < 9 * a):
        assert bool(asked)

    said = [c.text() for c in Expressions(ledger).conditions(ledger.guards)]

    assert ["{b} == 8", "{b} * {none} == 7 * {none}", "{a} * {b} < 9 * {a}"] == said


LEFT: list[bool] = []


def _slopes(count: int, device: torch.device) -> tuple[Tensor, weakref.ref[Tensor]]:
    closest = 2 ** math.floor(math.log2(count))
    base = torch.full((), 2 ** -(2 ** -(math.log2(closest) - 3)), device=device)
    powers = torch.arange(1, 1 + closest, device=device, dtype=torch.int32)
    slopes = torch.pow(base, powers)
    return slopes if closest == count else torch.cat([slopes, slopes]), weakref.ref(powers)


class Slopes(nn.Module):
    """Scales its input by as many slopes as the power of two below a count, which a function makes."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, x: Tensor) -> Tensor:
        slopes, powers = _slopes(self.count, x.device)
        LEFT.append(powers() is not None)
        return x * slopes.sum()


def test_a_number_without_a_formula_keeps_no_tensor_alive(recipe_from: Callable[..., Recipe]) -> None:
    """The powers end with the function that makes them, as they do in a run with numbers."""
    recipe = recipe_from(
        Slopes,
        lambda n: Slopes(n.count),
        lambda n, maker: (maker.floats((n.batch_size, 5)),),
        **{"batch_size": 3, "count": 8},
    )
    LEFT.clear()

    run_symbolically(recipe)

    assert [False] == LEFT
