"""Of which layers a regime is: deeper models are held against what was derived of few layers."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.reader import Sources, read_class
from forwardbook.pipeline.derivation.entry import record
from forwardbook.pipeline.derivation.explore import FULL, regimes_of
from forwardbook.pipeline.derivation.places import narrower, ranges
from forwardbook.pipeline.reprove.deep_runs import DEEP, DeepRuns, run_at
from forwardbook.pipeline.reprove.layers import with_layers_told
from forwardbook.schema import Entry

from .matrices import Maker, over_rows


class Layer(nn.Module):
    """A projection, after which there may be a further step: neither its constructor nor a name says so."""

    _further = False

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        x = self.inner(x)
        return torch.relu(x) if self._further else x


class Alike(nn.Module):
    """Every layer is as the first."""

    made: type[Layer] = Layer

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(self.made(width) for _ in range(layers))
        for place, layer in enumerate(self.layers):
            layer._further = self.is_further(place)  # type: ignore[assignment]

    @staticmethod
    def is_further(place: int) -> bool:
        return False

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Third(Alike):
    """Every third layer is of another kind."""

    @staticmethod
    def is_further(place: int) -> bool:
        return place % 3 == 2


class Later(Alike):
    """The layers from the fifth on are of another kind."""

    @staticmethod
    def is_further(place: int) -> bool:
        return place >= 4


class Rounded(Layer):
    """A projection whose result every third layer rounds, where that is another format."""

    def forward(self, x: Tensor) -> Tensor:
        x = self.inner(x)
        return x.float().relu().to(x.dtype) if self._further else x.relu()


class InOneFormat(Third):
    """Every third layer is of another kind where numbers are narrow."""

    made = Rounded


class First(Alike):
    """The first layer is of another kind than all others."""

    @staticmethod
    def is_further(place: int) -> bool:
        return place == 0


class Turned(Alike):
    """All layers are of another kind where there are many."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__(width, layers)
        for layer in self.layers:
            layer._further = layers >= 5  # type: ignore[assignment]


class Last(Alike):
    """The last layer is of another kind than all others."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__(width, layers)
        for place, layer in enumerate(self.layers):
            layer._further = place == layers - 1  # type: ignore[assignment]


class Ended(Alike):
    """What comes after all layers is of another kind where there are many."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__(width, layers)
        self.last = self.made(width)
        self.last._further = layers >= 5  # type: ignore[assignment]

    def forward(self, x: Tensor) -> Tensor:
        return self.last(super().forward(x))


class Few(Third):
    """It refuses to be deep."""

    def __init__(self, width: int, layers: int) -> None:
        if layers >= DEEP:
            raise ValueError("too many layers")
        super().__init__(width, layers)


def derived(recipe: Recipe, kind: type[Layer] = Layer) -> Entry:
    """The record of the layer."""
    found = regimes_of(recipe, 3, 3, False, [f"{kind.__module__}.{kind.__qualname__}"])
    file = Path(__file__)
    made = record(read_class(kind.__name__, file, Sources([file.parent])), "tests", found)
    return made.model_copy(update={"full_class_name": found[0].derived.target})


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        (Alike, {"called as layers.*"}),
        (Third, {"called as layers.0-1,3-4,6-7,9-10"}),
        (InOneFormat, {"called as layers.0-1,3-4,6-7,9-10"}),
        (Later, {"called as layers.0-3"}),
        (First, {"called as layers.*"}),
        (Last, {"called as layers.*"}),
        (Few, {"called as layers.0-1,3"}),  # of four layers, as it refuses twelve
    ],
)
def test_a_regime_is_said_of_the_layers_that_it_gives(
    recipe_from: Maker, kind: type[Alike], places: set[str]
) -> None:
    """Derived with two layers, in which the other kind is not, or both are; held against more."""
    recipe = over_rows(recipe_from, kind, "width", "layers", layers=2)
    before = derived(recipe, kind.made)

    after = with_layers_told(before, DeepRuns(recipe))

    assert {"called as layers.*"} == {one.context for one in before.regimes}
    assert places == {one.context for one in after.regimes}
    assert [one.flop_analysis for one in before.regimes] == [one.flop_analysis for one in after.regimes]


def test_a_regime_is_not_said_of_what_ends_a_model_if_the_number_of_layers_changes_it(
    recipe_from: Maker,
) -> None:
    """Its last module is called as two layers are, and otherwise where there are twelve of them."""
    recipe = over_rows(recipe_from, Ended, "width", "layers", layers=2)
    before = derived(recipe)

    after = with_layers_told(before, DeepRuns(recipe))

    assert ["called as layers.*, last"] == [one.context for one in before.regimes]
    assert ["called as layers.*"] == [one.context for one in after.regimes]


def test_a_regime_beside_one_that_lists_its_layers_lists_its_own(recipe_from: Maker) -> None:
    """Said of any layer it would be said of the fifteenth, of which the list of the other does not speak."""
    recipe = over_rows(recipe_from, Third, "width", "layers", layers=3)
    open_to_all = derived(recipe)
    first, further = open_to_all.regimes
    listed = further.model_copy(update={"context": "called as layers.2,5,8,11"})
    before = open_to_all.model_copy(update={"regimes": (first, listed)})

    after = with_layers_told(before, DeepRuns(recipe))

    assert open_to_all == with_layers_told(open_to_all, DeepRuns(recipe))
    assert ["called as layers.0-1,3-4,6-7,9-10", listed.context] == [one.context for one in after.regimes]


class Halving(nn.Module):
    """As many layers as a width can be halved, each of half as many rows as the one before."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(int(math.log2(width))))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)[: x.shape[0] // 2]
        return x


def test_layers_that_a_logarithm_counts_are_told_by_a_run_at_larger_sizes(recipe_from: Maker) -> None:
    """Two of them where the width is six: the regimes of these are not of the third, of a width of ten."""
    recipe = over_rows(recipe_from, Halving, "width")
    before = derived(recipe)
    runs = DeepRuns(recipe)

    assert before == with_layers_told(before, runs)
    runs.besides = {FULL: [run_at(recipe, {"rows": 90, "width": 10}, FULL)]}
    after = with_layers_told(before, runs)

    assert ["called as layers.*", "called as layers.*"] == [one.context for one in before.regimes]
    assert ["called as layers.0", "called as layers.1"] == [one.context for one in after.regimes]


def test_a_regime_that_gives_no_call_of_a_deeper_model_is_refuted(recipe_from: Maker) -> None:
    """Of the first kind of layer alone, said to hold from five layers on: then it is taken out, and named."""
    recipe = over_rows(recipe_from, Turned, "width", "layers", layers=2)
    [regime] = derived(recipe).regimes
    deeper = regime.model_copy(update={"conditions": ("{layers} >= 5",)})
    before = derived(recipe).model_copy(update={"regimes": (deeper,)})

    after = with_layers_told(before, DeepRuns(recipe))

    assert ("exact", "unproved") == (before.validation.verdict, after.validation.verdict)
    assert () == after.regimes
    assert ["default, called as layers.*"] == [row.operation for row in after.unresolved]
    assert after.unresolved[0].reason.startswith("refuted: in a model of more layers line ")


@pytest.mark.parametrize(
    ("place", "right", "wrong", "every", "told"),
    [
        ("layers.*", {"layers.0"}, set(), {"layers.0", "layers.1"}, ("layers.*",)),
        ("layers.0-3", {"layers.0"}, {"layers.2"}, {"layers.0", "layers.2"}, ("layers.0-3",)),
        ("layers.*.mlp", {"layers.1.mlp"}, {"layers.0.mlp"}, {"layers.1.mlp"}, ("layers.1.mlp",)),
        (
            "layers.*",
            {f"layers.{i}" for i in range(4, 12)},
            {"layers.0"},
            {f"layers.{i}" for i in range(12)},
            ("layers.4-",),
        ),
        ("a.*.b.*", {"a.0.b.1", "a.1.b.1"}, {"a.0.b.0"}, {"a.0.b.2"}, ("a.*.b.1",)),
        (
            "a.*.b.*",
            {"a.0.b.1", "a.0.b.2", "a.1.b.0"},
            {"a.0.b.0", "a.1.b.1"},
            {"a.0.b.2"},
            ("a.0.b.1-2", "a.1.b.0"),
        ),
    ],
)
def test_a_place_tells_the_numbers_that_keep_what_holds_from_what_does_not(
    place: str, right: set[str], wrong: set[str], every: set[str], told: tuple[str, ...]
) -> None:
    assert told == narrower(place, right, wrong, every)


@pytest.mark.parametrize(
    ("numbers", "last", "text"),
    [
        ([0, 1, 2, 5], None, "0-2,5"),
        ([0, 9, 10, 11], 11, "0,9-"),
        ([0, 10, 11], 11, "0,10-11"),
        ([0, 1, 2, 3, 5, 6, 7], 7, "0-3,5-7"),
        ([0, 1, 3, 4, 5], 5, "0-1,3-"),
        ([3], None, "3"),
    ],
)
def test_numbers_are_ranges_that_go_on_where_the_last_three_are_among_them(
    numbers: list[int], last: int | None, text: str
) -> None:
    """Unless as many broke off before: a tower with one wide layer in each eight looks so at its twelfth."""
    assert text == ranges(numbers, last)
