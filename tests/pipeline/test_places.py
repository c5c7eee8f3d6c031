"""Where a regime is called: numbers of layers are open, but where its formulas are those of one."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from forwardbook.pipeline.derivation.explore import regimes_of
from forwardbook.pipeline.derivation.places import contexts
from forwardbook.saying import at_place

from .matrices import Maker, Projection, Stack, over_rows

PROJECTION = f"{Projection.__module__}.{Projection.__qualname__}"


class Entering(nn.Module):
    """A projection from another width, or from its own, after which there is a further step."""

    def __init__(self, given: int, width: int, first: bool) -> None:
        super().__init__()
        self.inner = nn.Linear(given, width)
        self.first = first

    def forward(self, x: Tensor) -> Tensor:
        x = self.inner(x)
        return x if self.first else torch.relu(x)


class Deep(nn.Module):
    """Two stages of two layers, of which the first comes from the stage before."""

    def __init__(self, width: int, first: int, second: int) -> None:
        super().__init__()
        before = (width, first)
        self.stages = nn.ModuleList(
            nn.ModuleList([Entering(given, own, True), Entering(own, own, False)])
            for given, own in zip(before, (first, second), strict=True)
        )

    def forward(self, x: Tensor) -> Tensor:
        for stage in self.stages:
            for layer in stage:
                x = layer(x)
        return x


class Stages(nn.Module):
    """Two stages of two projections, the second as wide as it is told."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__()
        widths = (first, second)
        self.stages = nn.ModuleList([nn.ModuleList([Projection(w), Projection(w)]) for w in widths])
        self.wider = second - first

    def forward(self, x: Tensor) -> Tensor:
        for i, stage in enumerate(self.stages):
            if i == 1:
                x = F.pad(x, (0, self.wider))
            for layer in stage:
                x = layer(x)
        return x


def _told(recipe_from: Maker, first: str, second: str) -> set[str]:
    recipe = recipe_from(
        Stages,
        lambda n: Stages(getattr(n, first), getattr(n, second)),
        lambda n, maker: (maker.floats((n.rows, getattr(n, first))),),
        conditions=(f"{{{first}}} < {{{second}}}",),
        **{"rows": 9, first: 6, second: 10},
    )
    return set(contexts(regimes_of(recipe, 3, 3, False, [PROJECTION])))


def test_a_size_by_its_number_is_of_the_stage_of_that_number(recipe_from: Maker) -> None:
    told = _told(recipe_from, "widths.0", "widths.1")
    assert told == {"called as stages.0.*", "called as stages.1.*"}


def test_sizes_without_numbers_say_nothing_of_the_number_of_a_layer(recipe_from: Maker) -> None:
    assert _told(recipe_from, "narrow", "wide") == {"called as stages.*.*"}


def test_only_the_number_that_says_which_sizes_are_named_is_kept(recipe_from: Maker) -> None:
    """The second layer of a stage is as the third would be: its number says nothing."""
    recipe = recipe_from(
        Deep,
        lambda n: Deep(n.width, getattr(n, "widths.0"), getattr(n, "widths.1")),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        **{"rows": 9, "width": 6, "widths.0": 10, "widths.1": 14},
    )
    found = regimes_of(recipe, 3, 3, False, [f"{Entering.__module__}.{Entering.__qualname__}"])
    assert len(found) == 4
    assert set(contexts(found)) == {"called as stages.0.*", "called as stages.1.*"}


class Handed(nn.Module):
    """Three stages of two projections; the first of a stage is as wide as the stage before."""

    def __init__(self, given: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        before = (given, *widths)
        self.stages = nn.ModuleList(
            nn.ModuleList([Projection(b), Projection(w)]) for b, w in zip(before, widths, strict=False)
        )
        self.wider = [w - b for b, w in zip(before, widths, strict=False)]

    def forward(self, x: Tensor) -> Tensor:
        for stage, wider in zip(self.stages, self.wider, strict=True):
            x = stage[1](F.pad(stage[0](x), (0, wider)))
        return x


def test_the_last_layer_of_the_last_stage_has_its_number_left_open(recipe_from: Maker) -> None:
    """It alone has that width there, and with more layers those after it would have it too."""
    recipe = recipe_from(
        Handed,
        lambda n: Handed(n.width, (getattr(n, "widths.0"), getattr(n, "widths.1"))),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        conditions=("{width} < {widths.0}", "{widths.0} < {widths.1}"),
        **{"rows": 9, "width": 6, "widths.0": 10, "widths.1": 14},
    )
    told = set(contexts(regimes_of(recipe, 3, 3, False, [PROJECTION])))
    assert {"called as stages.*.*", "called as stages.1.*"} == told


class Blocks(nn.Module):
    """A list of one block of the first width, and three of the second."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Projection(w) for w in (first, second, second, second)])
        self.wider = second - first

    def forward(self, x: Tensor) -> Tensor:
        x = F.pad(self.blocks[0](x), (0, self.wider))
        for block in self.blocks[1:]:
            x = block(x)
        return x


def test_one_block_of_a_stage_keeps_its_number_beside_several_of_another(recipe_from: Maker) -> None:
    """What is said of the block of the first width is not said of the others."""
    recipe = recipe_from(
        Blocks,
        lambda n: Blocks(getattr(n, "widths.0"), getattr(n, "widths.1")),
        lambda n, maker: (maker.floats((n.rows, getattr(n, "widths.0"))),),
        conditions=("{widths.0} < {widths.1}",),
        **{"rows": 9, "widths.0": 6, "widths.1": 10},
    )
    told = contexts(regimes_of(recipe, 3, 3, False, [PROJECTION]))
    assert {"called as blocks.0", "called as blocks.*"} == set(told)


def test_layers_that_are_alike_have_their_numbers_left_open(recipe_from: Maker) -> None:
    recipe = over_rows(recipe_from, Stack, "width", "layers", layers=3)
    assert set(contexts(regimes_of(recipe, 3, 3, False, [PROJECTION]))) == {"called as layers.*"}


@pytest.mark.parametrize(
    ("place", "path", "is_there"),
    [
        ("layers.*.mlp", "layers.12.mlp", True),
        ("layers.*.mlp", "layers.mlp", False),
        ("layers.*.mlp", "layers.3.mlp.up", False),
        ("layers.*", "layers.norm", False),
        ("stages.1.layers.*", "stages.1.layers.0-2", True),
        ("stages.1.layers.*", "stages.2.layers.0", False),
        ("stages.1", "stages.0-2,5", True),
        ("stages.4", "stages.0-2,5", False),
        ("stages.5", "stages.0-2,5", True),
        ("layers.0-1,3-4", "layers.4", True),
        ("layers.0-1,3-4", "layers.2", False),
        ("layers.5-", "layers.40", True),
        ("layers.5-", "layers.4", False),
        ("layers.2,5,8-", "layers.6-9", True),
        ("layers.2,5", "layers.3-4", False),
        ("0.conv", "0.conv", True),
    ],
)
def test_a_path_is_of_a_place(place: str, path: str, is_there: bool) -> None:
    assert at_place(place, path) is is_there
