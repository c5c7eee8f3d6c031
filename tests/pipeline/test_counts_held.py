"""Where a count of layers was not interpolated over, formulas hold at the count that ran and say so."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.pipeline.derivation.counts_held import with_counts_held
from forwardbook.pipeline.derivation.regimes import derive


class Pair(nn.Module):
    """Two stacks of so many linear layers each."""

    def __init__(self, depth: int, more: int, dim: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.others = nn.ModuleList(nn.Linear(dim, dim, bias=False) for _ in range(more))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in (*self.layers, *self.others):
            x = layer(x)
        return x


class Stack(nn.Module):
    """So many linear layers."""

    def __init__(self, depth: int, dim: int, inner: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.last = nn.Linear(dim, inner)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        out: torch.Tensor = self.last(x)
        return out


NAME = f"{Stack.__module__}.{Stack.__qualname__}"
PAIR = f"{Pair.__module__}.{Pair.__qualname__}"


def _built(sizes: Sizes) -> nn.Module:
    return Stack(sizes("depth", 2), sizes("dim", 12), sizes("inner", 5))


def _inputs(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
    return (maker.floats((sizes("batch_size", 3), sizes("dim", 12))),), {}


RECIPE = Recipe(NAME, Stack.__module__, _built, _inputs)


def test_the_count_that_ran_is_a_condition() -> None:
    """What was refuted at other counts is proved at that one, at points where the other sizes change."""
    [before] = derive(RECIPE, torch.float32, [NAME], 3, loops=False)

    [after] = with_counts_held([before], 3, 3)

    assert not before.exact and after.exact
    assert "{depth} == 2" in [condition.text() for condition in after.pattern.conditions]
    assert all(1 < len({point.sizes[name] for point in after.proof.points}) for name in ("dim", "inner"))
    assert {2} == {point.sizes["depth"] for point in after.proof.points}


@pytest.mark.parametrize("seed", range(4))
def test_several_counts_are_held_where_now_one_and_now_another_is_to_blame(seed: int) -> None:
    """Of two counts only one differed from what ran at each failure: both are conditions."""
    recipe = Recipe(
        PAIR,
        Pair.__module__,
        lambda sizes: Pair(sizes("depth", 2), sizes("more", 2), sizes("dim", 12)),
        lambda sizes, module, maker: ((maker.floats((sizes("batch_size", 3), sizes("dim", 12))),), {}),
    )
    [before] = derive(recipe, torch.float32, [PAIR], seed, points=6, loops=False)
    failed = [point for point in before.proof.points if point.differences]
    apart = [
        replace(point, sizes={**point.sizes, "depth" if i % 2 else "more": 2})
        for i, point in enumerate(failed)
    ]
    before = replace(before, proof=replace(before.proof, points=apart))

    [after] = with_counts_held([before], 3, 3)

    assert after.exact
    assert {"{depth} == 2", "{more} == 2"} <= {condition.text() for condition in after.pattern.conditions}


def test_a_wrong_formula_stays_wrong() -> None:
    """Holding counts mends nothing else: a formula that is off at every count is left as it was."""
    [before] = derive(RECIPE, torch.float32, [NAME], 3, loops=False)
    summary = before.pattern.summary
    off = replace(before.pattern, summary=replace(summary, weights=summary.weights + 1))
    wrong = replace(before, pattern=off)

    assert [wrong] == with_counts_held([wrong], 3, 3)


class Halving(nn.Module):
    """Leaves every second row out, so many times."""

    def __init__(self, depth: int, dim: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self.parts:
            x = part(x)[: x.shape[0] // 2]
        return x


class Mixing(nn.Module):
    """A product with what is left."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Linear(dim, dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.weight(x)
        return out


class Chain(nn.Module):
    """Halves, then mixes; a number of its own that changes nothing is needed on the way."""

    def __init__(self, depth: int, other: int, dim: int) -> None:
        super().__init__()
        self.names = [str(place) for place in range(other)]
        self.halving, self.mixing = Halving(depth, dim), Mixing(dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.mixing(self.halving(x))
        return out


def test_a_count_that_another_needed_before_the_call_is_a_condition() -> None:
    """What comes in has the shape that so many layers left; the class asked for no number itself."""
    name = f"{Mixing.__module__}.{Mixing.__qualname__}"
    recipe = Recipe(
        f"{Chain.__module__}.{Chain.__qualname__}",
        Chain.__module__,
        lambda sizes: Chain(sizes("depth", 2), sizes("other", 7), sizes("dim", 12)),
        lambda sizes, module, maker: ((maker.floats((sizes("rows", 83), sizes("dim", 12))),), {}),
    )
    [before] = derive(recipe, torch.float32, [name], 3, loops=False)

    [after] = with_counts_held([before], 3, 3)

    assert () == before.pattern.consumed
    assert not before.exact and after.exact
    assert "{depth} == 2" in [condition.text() for condition in after.pattern.conditions]
    assert 1 < len({point.sizes["other"] for point in after.proof.points})


class Asking(nn.Module):
    """Does something else where three come at once."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.shape[0] == 3 else x


class Chosen(nn.Module):
    """A linear layer that is handed some of the rows."""

    def __init__(self, dim: int, inner: int) -> None:
        super().__init__()
        self.last = nn.Linear(dim, inner)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.last(rows)
        return out


class Choosing(nn.Module):
    """Hands on every second row: how many those are is a number, and which sizes it hangs on is known."""

    def __init__(self, dim: int, inner: int) -> None:
        super().__init__()
        self.asking, self.chosen = Asking(), Chosen(dim, inner)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.asking(x).flatten(0, 1)
        even = torch.arange(rows.shape[0]) % 2 == 0
        out: torch.Tensor = self.chosen(rows[even])
        return out


def _choosing(sizes: Sizes) -> nn.Module:
    return Choosing(sizes("dim", 12), sizes("inner", 5))


def _rows(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
    return (maker.floats((sizes("batch_size", 3), sizes("seq_len", 8), sizes("dim", 12))),), {}


def test_a_size_that_conditions_of_others_kept_is_held_once_it_moves() -> None:
    """Beside a class that needs three at once the length alone is to blame; without it, both."""
    asking, chosen = (f"{one.__module__}.{one.__qualname__}" for one in (Asking, Chosen))
    recipe = Recipe(f"{Choosing.__module__}.{Choosing.__qualname__}", Choosing.__module__, _choosing, _rows)
    derived = derive(recipe, torch.float32, [asking, chosen], seed=0, loops=False)

    [found] = [one for one in with_counts_held(derived, 0, 3) if one.target == chosen]

    assert found.exact
    assert {"{batch_size} == 3", "{seq_len} == 8"} <= {c.text() for c in found.pattern.conditions}
    assert {"dim", "inner"} == found.pattern.summary.symbols() & found.notes.keys()
