"""A formula is proved by measured runs at random sizes, and a wrong one is found out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.cost import Cost
from forwardbook.formula import Condition, Expr
from forwardbook.profiling.proof import POINTS, PatternProof, predict, prove, widths_of

HINTS = {"rows": 5, "width": 8, "heads": 2}


class Heads(nn.Module):
    """A projection whose output is split into heads and normed, in two lines."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise ValueError("heads do not divide the width")
        self.project, self.heads = nn.Linear(width, width), heads

    def forward(self, x: Tensor) -> Tensor:
        x = self.project(x).unflatten(-1, (self.heads, -1))
        return x * x.norm(dim=-1, keepdim=True)


class Beside(nn.Module):
    """A gate that runs after heads: its own code asks nothing of the width that they refuse."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.gate = Heads(width, heads), nn.GLU()

    def forward(self, x: Tensor) -> Tensor:
        self.heads(x)
        return self.gate(x)


@pytest.fixture
def recipe(recipe_from: Callable[..., Recipe]) -> Recipe:
    """The module over some rows."""
    return recipe_from(
        Heads, lambda n: Heads(n.width, n.heads), lambda n, maker: (maker.floats((n.rows, n.width)),), **HINTS
    )


@pytest.fixture
def pattern(recipe: Recipe) -> Pattern:
    """Its derived formulas."""
    return patterns(run_symbolically(recipe), recipe.calls_as)[0]


def proof_of(recipe: Recipe, pattern: Pattern, dtype: torch.dtype = torch.float32) -> PatternProof:
    """The proof of one pattern."""
    return prove(recipe, [pattern], HINTS, dtype, seed=1)[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_derived_formulas_are_proved(recipe: Recipe, pattern: Pattern, dtype: torch.dtype) -> None:
    """At all points every total and every line is the measured integer, in both widths."""
    proof = proof_of(recipe, pattern, dtype)

    assert (True, POINTS + 1, []) == (proof.exact, len(proof.points), proof.differences)
    assert all(point.predicted == point.measured for point in proof.points)
    assert len(pattern.summary.lines) == proof.points[0].lines


def test_points_are_within_the_conditions(recipe: Recipe, pattern: Pattern) -> None:
    """Every point satisfies the conditions of the pattern, and the sizes differ from point to point."""
    points = proof_of(recipe, pattern).points

    assert all(c.holds(p.sizes) for p in points for c in pattern.conditions if c.symbols() <= set(HINTS))
    assert POINTS + 1 == len({tuple(p.sizes.items()) for p in points})


def test_points_span_four_octaves(recipe: Recipe, pattern: Pattern) -> None:
    """Of a size that no condition holds the largest is sixteen times the smallest and more."""
    seen = [point.sizes for point in proof_of(recipe, pattern).points]

    assert all(max(p[name] for p in seen) >= 16 * min(p[name] for p in seen) for name in ("rows", "width"))


def test_what_the_holder_of_a_module_refuses_is_not_drawn_again(recipe_from: Callable[..., Recipe]) -> None:
    """A gate is proved at widths that the heads before it take, though nothing in it asks for them."""
    sizes = {"rows": 5, "width": 94, "heads": 47}
    recipe = recipe_from(
        Beside,
        lambda n: Beside(n.width, n.heads),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        **sizes,
    )
    gate = patterns(run_symbolically(recipe), "torch.nn.modules.activation.GLU")[0]
    assert not any("heads" in c.symbols() for c in gate.conditions)

    blind = replace(gate, around=())
    proofs = [prove(recipe, [one], sizes, torch.float32, seed=1)[0] for one in (gate, blind)]

    assert [True, False] == [proof.exact for proof in proofs]


@pytest.mark.parametrize("field", ["flops", "pointwise_ops", "reads", "writes"])
def test_wrong_total_is_found_out(recipe: Recipe, pattern: Pattern, field: str) -> None:
    """A total that is off by one is told with what was predicted and measured."""
    totals = replace(pattern.summary.totals, **{field: Expr.of(getattr(pattern.summary.totals, field)) + 1})
    proof = proof_of(recipe, replace(pattern, summary=replace(pattern.summary, totals=totals)))

    assert not proof.exact
    assert {(field, "total", 1)} == {
        (d.quantity, d.where, (d.predicted or 0) - d.measured) for d in proof.differences
    }


@pytest.mark.parametrize("field", ["weights", "boundary", "intermediates"])
def test_wrong_bytes_are_found_out(recipe: Recipe, pattern: Pattern, field: str) -> None:
    """So are weights, boundary and intermediates."""
    wrong = replace(pattern.summary, **{field: Expr.of(getattr(pattern.summary, field)) * 2})

    assert {field} == {d.quantity for d in proof_of(recipe, replace(pattern, summary=wrong)).differences}


def test_wrong_peak_is_found_out(recipe: Recipe, pattern: Pattern) -> None:
    """So is a peak that lacks the state that wins."""
    low = Expr.symbol("rows") * Expr.symbol("a_dtype_bytes")
    wrong = replace(pattern, summary=replace(pattern.summary, peaks=(low,)))

    assert {"peak"} == {d.quantity for d in proof_of(recipe, wrong).differences}


def test_cost_at_the_wrong_line_is_found_out(recipe: Recipe, pattern: Pattern) -> None:
    """Right totals with the costs of two lines exchanged are wrong at both lines."""
    first, last = pattern.summary.lines
    exchanged = (replace(first, cost=last.cost), replace(last, cost=first.cost))
    proof = proof_of(recipe, replace(pattern, summary=replace(pattern.summary, lines=exchanged)))

    assert {f"line {first.key[1]}", f"line {last.key[1]}"} == {d.where for d in proof.differences}


def test_forgotten_line_is_found_out(recipe: Recipe, pattern: Pattern) -> None:
    """A line that the formula lacks is predicted as zero."""
    first, last = pattern.summary.lines
    proof = proof_of(recipe, replace(pattern, summary=replace(pattern.summary, lines=(first,))))

    assert {(f"line {last.key[1]}", 0)} == {(d.where, d.predicted) for d in proof.differences}


def test_formula_that_does_not_hold_predicts_nothing() -> None:
    """Where a division does not come out even the formula gives no number, which is a difference."""
    half = Expr.symbol("width").exact_div(Expr.const(2))

    assert (4, None, 7) == (predict(half, {"width": 8}), predict(half, {"width": 7}), predict(7, {}))


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["1 == 2"], "no sizes satisfy 1 == 2"),
        (["{rows} > {width}", "{rows} < {width}"], "no sizes satisfy {rows} > {width} and {rows} < {width}"),
        (["{rows} == 4", "{heads} < 2", "{rows} > 7"], "no sizes satisfy {rows} == 4 and {rows} > 7"),
        (
            ["{width} % 2 == 1", "{width} % 4 == 0"],
            "no sizes were found that satisfy {width} % 2 == 1 and {width} % 4 == 0",
        ),
    ],
)
def test_conditions_that_contradict_each_other_are_told_at_once(
    recipe: Recipe, pattern: Pattern, texts: list[str], reason: str
) -> None:
    """Without points nothing is proved; the conditions that exclude each other are the reason, soon."""
    begin = time.process_time()
    held = [Condition.parse(text) for text in texts]
    (proof,) = prove(recipe, [pattern], HINTS, torch.float32, seed=1, held=held)

    assert (False, [], reason) == (proof.exact, proof.points, proof.reason)
    assert time.process_time() - begin < 20  # where every try was made it took minutes


def test_refusal_of_the_module_is_told(recipe: Recipe, pattern: Pattern) -> None:
    """Where the module raises at every point, the type of what it raises is the reason, not its words."""

    def narrow(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
        return (maker.floats((sizes("rows", 5), 3)),), {}

    proof = proof_of(replace(recipe, inputs=narrow), pattern)

    assert [] == proof.points
    assert proof.reason == "a run at random sizes raised RuntimeError"


def test_widths_of_a_dtype() -> None:
    """All three widths are the bytes of one element."""
    assert {"w_dtype_bytes": 2, "a_dtype_bytes": 2, "kv_dtype_bytes": 2} == widths_of(torch.bfloat16)
    assert Cost.zero() == Cost(0, 0, 0, 0)
