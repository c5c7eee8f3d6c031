"""The lines of a call add up to its totals, whatever helpers, submodules and decorators lie between."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.analyzers.symbolic.summary import largest, short_file, smallest, summarise
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.cost import Cost
from forwardbook.formula import Condition, Expr, parse


def doubled(x: Tensor) -> Tensor:
    """A helper of another frame."""
    return x * 2


class Block(nn.Module):
    """Two projections, a helper, a view, and a loop over a list."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.gelu(self.up(x))
        for part in hidden.chunk(2, dim=0):
            hidden = hidden + part.sum()
        return doubled(self.down(hidden).view(-1))


def traced(forward: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A decorator that keeps the function it wraps."""

    @functools.wraps(forward)
    def wrapper(self: nn.Module, *args: object, **kwargs: object) -> Tensor:
        return forward(self, *args, **kwargs) + 1

    return wrapper


def replaced(forward: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A decorator that runs something else."""

    def substitute(self: nn.Module, x: Tensor) -> Tensor:
        return x.exp()

    substitute.__wrapped__ = forward  # type: ignore[attr-defined]
    return substitute


class Wrapped(nn.Module):
    """forward() runs inside a wrapper."""

    @traced
    def forward(self, x: Tensor) -> Tensor:
        return x * 3


class Replaced(nn.Module):
    """forward() never runs."""

    @replaced
    def forward(self, x: Tensor) -> Tensor:
        return x * 3


class Comprehending(nn.Module):
    """A comprehension over several lines."""

    def forward(self, x: Tensor) -> Tensor:
        return sum([
            part * 2
            for part in x.chunk(2)
        ])  # fmt: skip


Maker = Callable[..., Recipe]
Symbolic = Callable[..., Pattern]


@pytest.fixture
def block(recipe_from: Maker) -> Recipe:
    """The block over a batch of rows."""
    return recipe_from(
        Block,
        lambda n: Block(n.width, n.inner),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        rows=6,
        width=5,
        inner=7,
    )


def test_lines_add_up_to_the_totals(block: Recipe, symbolic: Symbolic) -> None:
    """The sum over lines is the total, as polynomials, and only lines of the class's forward() occur."""
    found = symbolic(block).summary
    code = Block.forward.__code__

    assert found.totals == Cost.total(line.cost for line in found.lines)
    assert {__file__} == {line.key[0] for line in found.lines}
    assert all(code.co_firstlineno < line.key[1] <= code.co_firstlineno + 6 for line in found.lines)


def test_helpers_are_told_beneath_their_line(block: Recipe, symbolic: Symbolic) -> None:
    """The line that calls a helper bears its cost and names where it came from."""
    found = symbolic(block)
    last = found.summary.lines[-1]
    helper = doubled.__code__.co_firstlineno + 2

    assert f"doubled:{helper}" in last.chain
    wanted = ("aten.mm", "aten.mul", "aten.addmm")
    counted = {name: count for name, count in last.operations if name in wanted}
    assert {"aten.mm": 1, "aten.mul": 1} == counted
    assert ["up", "down"] == [call.attribute for call in found.subcalls]


def test_totals_of_a_block(block: Recipe, symbolic: Symbolic) -> None:
    """Multiplications of the two projections, their weights, and a peak that is one of its states."""
    found = symbolic(block).summary.quantities()
    rows, width, inner = (Expr.symbol(n) for n in ("rows", "width", "inner"))

    assert 4 * rows * width * inner == found["flops"]
    assert (2 * width * inner + inner) * Expr.symbol("w_dtype_bytes") == found["weights"]


def test_boundary_is_at_most_what_is_moved(block: Recipe, symbolic: Symbolic) -> None:
    """The lower bound of perfect fusion is below what eager kernels move."""
    found = symbolic(block).summary.quantities()
    sizes = {"rows": 8, "width": 9, "inner": 11} | dict.fromkeys(("w_dtype_bytes", "a_dtype_bytes"), 2)
    numbers = {name: Expr.of(size).evaluate(sizes) for name, size in found.items()}

    assert numbers["weights"] < numbers["boundary"] <= numbers["reads"] + numbers["writes"]
    assert numbers["peak"] <= numbers["writes"]


@pytest.mark.parametrize("kind", [Wrapped, Replaced])
def test_decorated_forward(recipe_from: Maker, symbolic: Symbolic, kind: type[nn.Module]) -> None:
    """A wrapper's own work is kept, at its line; where it swaps forward(), what ran is what is told."""
    recipe = recipe_from(kind, lambda n: kind(), lambda n, maker: (maker.floats((n.rows,)),), rows=6)
    found = symbolic(recipe).summary
    rows = Expr.symbol("rows")

    assert found.totals == Cost.total(line.cost for line in found.lines)
    assert (2 * rows if kind is Wrapped else rows) == found.totals.pointwise_ops
    assert {__file__} == {line.key[0] for line in found.lines}


def test_comprehension_is_lines_of_its_function(recipe_from: Maker, symbolic: Symbolic) -> None:
    """What a comprehension computes is counted at the line of its element, in every version of Python."""
    recipe = recipe_from(
        Comprehending, lambda n: Comprehending(), lambda n, maker: (maker.floats((n.rows,)),), rows=6
    )
    first = Comprehending.forward.__code__.co_firstlineno
    work = {line.key[1] - first: line.cost.pointwise_ops for line in symbolic(recipe).summary.lines}

    assert Expr.symbol("rows") == work[2]


class Tied(nn.Module):
    """One table of words, read for a source and for a target."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(words, width)

    def forward(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        return self.table(source), self.table(target)


@pytest.mark.parametrize(("given", "made"), [(7, 5), (6, 6)], ids=["unlike", "alike"])
def test_rows_are_read_by_each_input(
    recipe_from: Maker,
    symbolic: Symbolic,
    trace_of: Callable[..., Trace],
    given: int,
    made: int,
) -> None:
    """Rows of one table by two inputs are read for each of them, also where both are as long."""
    recipe = recipe_from(
        Tied,
        lambda n: Tied(n.words, n.width),
        lambda n, maker: (maker.integers((n.given,), n.words), maker.integers((n.made,), n.words)),
        words=50,
        width=8,
        given=7,
        made=5,
    )
    sizes = {"words": 50, "width": 8, "given": given, "made": made}
    trace = trace_of(recipe, **sizes)
    measured = summarise(trace, trace.calls[0], {}).boundary
    formula = Expr.of(symbolic(recipe).summary.boundary)

    assert (given + made) * (8 + 2 * 8 * 4) == measured  # ids of 8 bytes; a row read and written
    assert measured == formula.evaluate(sizes | dict.fromkeys(("w_dtype_bytes", "a_dtype_bytes"), 4))


class Parts(nn.Module):
    """Multiplies by two matrices of several that are one weight."""

    def __init__(self, parts: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(parts, width, width))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight[0] @ self.weight[2]


def test_parts_that_do_not_overlap_are_not_asked_whether_they_are_all(
    recipe_from: Callable[..., Recipe], symbolic: Symbolic
) -> None:
    """Both matrices cross the boundary once, however many there are beside them."""
    recipe = recipe_from(
        Parts, lambda n: Parts(n.parts, n.width), lambda n, maker: (maker.floats((n.rows, n.width)),),
        parts=5, width=8, rows=3,
    )  # fmt: skip
    boundary = Expr.of(symbolic(recipe).summary.boundary)

    said = "2 * {width} * {width} * {w_dtype_bytes} + 2 * {rows} * {width} * {a_dtype_bytes}"
    assert boundary == parse(said)


def test_extremes_of_sizes() -> None:
    """Numbers stay numbers; with an expression the result is one."""
    x = Expr.symbol("x")

    assert (7, 0, 3) == (largest([3, 7]), largest([]), smallest(3, 7))
    assert (Expr.maximum(x, 7), Expr.minimum(x, 7)) == (largest([x, 7]), smallest(7, x))


@pytest.mark.parametrize(
    ("file", "short"),
    [
        ("/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", "torch/nn/modules/linear.py"),
        ("/home/me/work/src/toy/layers.py", "toy/layers.py"),
        ("/home/me/layers.py", "layers.py"),
    ],
)
def test_files_are_told_without_a_machines_folders(file: str, short: str) -> None:
    """A file is named from its package on."""
    assert short == short_file(file)


def test_conditions_of_a_call_are_its_own(block: Recipe, symbolic: Symbolic) -> None:
    """What torch compared while the block ran holds at the sizes of the run."""
    found = symbolic(block)
    sizes = {"rows": 6, "width": 5, "inner": 7}

    assert found.conditions
    assert all(isinstance(c, Condition) and c.holds(sizes) for c in found.conditions)
