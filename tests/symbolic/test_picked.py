"""Which element is picked by a number that only data has is no size of a formula."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.analyzers.symbolic.picked import PICKED, is_place
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Expr

WIDTHS = {"w_dtype_bytes": 4, "a_dtype_bytes": 4}
NUMBERS = {"tokens": 12, "width": 6, "kinds": 5}


class Best(nn.Module):
    """The scores of each token, and the best of all; `before` also those up to its place."""

    def __init__(self, width: int, kinds: int, before: bool = False) -> None:
        super().__init__()
        self.score, self.before = nn.Linear(width, kinds), before

    def forward(self, x: Tensor) -> Tensor:
        scores = self.score(x)
        place = (scores == scores.max()).nonzero()[0]
        best: Tensor = scores[tuple(place)] * 2
        return best + scores[: place[0] + 1].sum() if self.before else best


def at(size: object, sizes: dict[str, int]) -> object:
    """The number that a formula gives, where all places are true: meta tensors are made so."""
    every = {**sizes, **WIDTHS, "place_count": sizes["tokens"] * sizes["kinds"]}
    return size.evaluate(every) if isinstance(size, Expr) else size


def _recipe(recipe_from: Callable[..., Recipe], before: bool) -> Recipe:
    return recipe_from(
        Best,
        lambda n: Best(n.width, n.kinds, before),
        lambda n, maker: (maker.floats((n.tokens, n.width)),),
        **NUMBERS,
    )


def test_a_picked_element_has_no_size_of_its_own(
    recipe_from: Callable[..., Recipe],
    symbolic: Callable[..., Pattern],
    measured: Callable[..., Summary],
) -> None:
    """Few tokens or many, one element of the scores is doubled: what its place is nothing asks for."""
    recipe = _recipe(recipe_from, before=False)
    pattern = symbolic(recipe)

    assert {*NUMBERS, *WIDTHS, "place_count"} == pattern.symbols()  # of the best there may be several
    for tokens in (3, 12, 40):
        sizes = {**NUMBERS, "tokens": tokens}
        run = measured(recipe, **sizes)
        for name, size in pattern.summary.quantities().items():
            assert at(size, sizes) == run.quantities()[name], name


def test_a_measured_run_guesses_nothing_of_a_place(
    recipe_from: Callable[..., Recipe], trace_of: Callable[..., Trace]
) -> None:
    """What it was told of the mask is said; of the one element nothing had to be."""
    trace = trace_of(_recipe(recipe_from, before=False), **NUMBERS)

    assert not [said for said in trace.assumed if "scalar" in said]


def test_the_end_of_a_slice_is_a_size(recipe_from: Callable[..., Recipe]) -> None:
    """How many rows come before the best only data has, and the sum over them costs as much."""
    runs = [run_symbolically(_recipe(recipe_from, before)) for before in (False, True)]
    asked = [run.notes.keys() - NUMBERS.keys() for run in runs]

    assert [{"place_count"}, {"place_count", "selected_count"}] == asked


def test_a_place_is_none_after_it_was_picked() -> None:
    """What torch asks the same tensor for later is its number."""
    place = torch.tensor(1)
    assert 5 == PICKED[torch.Tensor.__getitem__](torch.tensor([4, 5]), place)
    assert not is_place(place)
