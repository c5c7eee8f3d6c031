"""A recorded run knows what every operation moved, where it was issued, and which storages lived when."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.library import custom_op

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.analyzers.symbolic.storages import region
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.analyzers.symbolic.trace import Trace

ROWS, WIDTH = 5, 8
BYTES = 4 * ROWS * WIDTH  # of an input in float32


@custom_op("forwardbook_tests::mystery", mutates_args=())
def mystery(x: Tensor) -> Tensor:
    """An operation that no rule knows."""
    return x.clone()


@mystery.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


class Chain(nn.Module):
    """Three storages are born; two live at once, then the first dies."""

    def forward(self, x: Tensor) -> Tensor:
        first = x + 1
        second = first * 2
        del first
        return second.exp()


class Views(nn.Module):
    """Nothing is moved."""

    def forward(self, x: Tensor) -> Tensor:
        return x.view(-1, 2).t().unsqueeze(0).expand(3, -1, -1)


class Square(nn.Module):
    """The same view twice."""

    def forward(self, x: Tensor) -> Tensor:
        return x * x


class Expanded(nn.Module):
    """One row, read as many."""

    def forward(self, x: Tensor) -> Tensor:
        return x + x[:1].expand(5, 8)


class InPlace(nn.Module):
    """A new tensor, then a change of it."""

    def forward(self, x: Tensor) -> Tensor:
        out = x + 1
        out.relu_()
        return out


class Mystery(nn.Module):
    """A known operation, then one without rule."""

    def forward(self, x: Tensor) -> Tensor:
        x = x + 1
        return mystery(x)


class Parent(nn.Module):
    """Two calls of one child, the second inside a helper."""

    def __init__(self) -> None:
        super().__init__()
        self.child = Square()

    def forward(self, x: Tensor) -> Tensor:
        x = self.child(x)
        return self._again(x)

    def _again(self, x: Tensor) -> Tensor:
        out: Tensor = self.child(x)
        return out


class Refusing(nn.Module):
    """Catches what its child raises."""

    def __init__(self) -> None:
        super().__init__()
        self.child = Failing()

    def forward(self, x: Tensor) -> Tensor:
        try:
            out: Tensor = self.child(x)
        except ValueError:
            out = x + 1
        return out


class Failing(nn.Module):
    """Raises."""

    def forward(self, x: Tensor) -> Tensor:
        raise ValueError("no")


Maker = Callable[..., Recipe]
Measured = Callable[..., Summary]


def plain(recipe_from: Maker, kind: type[nn.Module]) -> Recipe:
    """A module without arguments over a matrix."""
    return recipe_from(
        kind, lambda n: kind(), lambda n, maker: (maker.floats((n.rows, n.width)),), rows=ROWS, width=WIDTH
    )


def test_peak_is_the_most_that_lives_at_once(recipe_from: Maker, measured: Measured) -> None:
    """Of three storages two live at once; two die in the call, and one is the result."""
    found = measured(plain(recipe_from, Chain))

    assert ((2 * BYTES,), 2 * BYTES) == (found.peaks, found.intermediates)
    assert 2 * BYTES == found.boundary
    assert 3 * ROWS * WIDTH == found.totals.pointwise_ops


def test_views_are_free(recipe_from: Maker, measured: Measured) -> None:
    """A chain of views costs nothing and gives birth to nothing."""
    found = measured(plain(recipe_from, Views))

    assert dict.fromkeys(found.quantities(), 0) == found.quantities()


def test_one_view_is_read_once(recipe_from: Maker, measured: Measured) -> None:
    """x * x reads x once."""
    found = measured(plain(recipe_from, Square)).totals

    assert (BYTES, BYTES) == (found.reads, found.writes)


def test_expanded_dimension_is_read_once(recipe_from: Maker, measured: Measured) -> None:
    """An expanded row is read as one row."""
    found = measured(plain(recipe_from, Expanded)).totals

    assert (BYTES + 4 * WIDTH, BYTES) == (found.reads, found.writes)


def test_change_in_place_makes_no_storage(recipe_from: Maker, measured: Measured) -> None:
    """An operation in place reads and writes what is there; only the first output is born."""
    found = measured(plain(recipe_from, InPlace))

    assert (2 * BYTES, 2 * BYTES) == (found.totals.reads, found.totals.writes)
    assert ((BYTES,), 0) == (found.peaks, found.intermediates)


def test_operation_without_rule_is_reported(recipe_from: Maker, trace_of: Callable[..., Trace]) -> None:
    """It is named with the file and line that issued it, and not taken for one that costs nothing."""
    trace = trace_of(plain(recipe_from, Mystery))
    line = Mystery.forward.__code__.co_firstlineno + 2

    found = [(u.name, u.file, u.line) for u in trace.unruled]
    assert [("forwardbook_tests.mystery", __file__, line)] == found


def test_calls_know_their_parent_and_their_site(recipe_from: Maker, trace_of: Callable[..., Trace]) -> None:
    """Every call has its path, its parent and the frames of the parent that made it."""
    trace = trace_of(plain(recipe_from, Parent))
    root, first, second = trace.calls

    beneath = ("child", root.index)
    assert [("", -1), beneath, beneath] == [(c.path, c.parent) for c in trace.calls]
    assert ["Parent.forward"] == [frame.function for frame in first.site]
    assert ["Parent.forward", "Parent._again"] == [frame.function for frame in second.site]
    assert [2, 1, 1] == [len(trace.of(call)) for call in trace.calls]


def test_place_is_the_expression(recipe_from: Maker, trace_of: Callable[..., Trace]) -> None:
    """An operation's innermost frame is the range of the expression that was evaluated."""
    (operation,) = trace_of(plain(recipe_from, Square)).operations
    (place,) = operation.frames

    assert (__file__, "Square.forward") == (place.file, place.function)
    assert Square.forward.__code__.co_firstlineno + 1 == place.line == place.end_line
    assert len("x * x") == place.end_col - place.col


def test_call_that_raises_is_marked(recipe_from: Maker, trace_of: Callable[..., Trace]) -> None:
    """A call whose exception was caught is told from those that returned."""
    trace = trace_of(plain(recipe_from, Refusing))

    assert [False, True] == [call.failed for call in trace.calls]


def test_torch_is_left_as_it_was(recipe_from: Maker, trace_of: Callable[..., Trace]) -> None:
    """After a run a module is called by torch's own code."""
    before = nn.Module.__call__
    trace_of(plain(recipe_from, Square))

    assert before is nn.Module.__call__


def test_region_is_the_elements_covered() -> None:
    """Transposed, flattened and expanded views of one storage cover one region; a slice covers another."""
    whole = torch.empty(4, 6)
    views = [whole, whole.t(), whole.flatten(), whole.view(2, 2, 6), whole.unsqueeze(0).expand(3, -1, -1)]
    regions = {region(list(view.shape), list(view.stride())) for view in views}

    assert 1 == len(regions)
    assert region([2, 6], [6, 1]) not in regions


def test_runs_that_are_let_go_are_gone(recipe_from: Callable[..., Recipe]) -> None:
    """Nothing holds runs that are over, the last one apart: torch may still know one of its sizes."""
    recipe = recipe_from(
        nn.Linear, lambda n: nn.Linear(n.width, 3), lambda n, maker: (maker.floats((2, n.width)),), width=5
    )
    ledgers, modules = [], []
    for _ in range(4):
        run = run_symbolically(recipe)
        ledgers.append(weakref.ref(run.ledger))
        modules.append(weakref.ref(run.root))
        del run
    gc.collect()

    assert sum(one() is not None for one in ledgers) <= 1
    assert sum(one() is not None for one in modules) <= 1
