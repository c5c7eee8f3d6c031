"""A size that is rounded to few numbers is proved far from where it was: within an octave nothing is seen."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import relax


class Halved(nn.Module):
    """The average of every two, as often as the factor can be halved."""

    def __init__(self, factor: int, dim: int) -> None:
        super().__init__()
        self.times = int(math.log2(factor))
        self.pool = nn.AvgPool1d(2)
        self.last = Last(dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.times):
            x = torch.nn.functional.pad(self.pool(x), (0, 1))
        out: torch.Tensor = self.last(x)
        return out


class Last(nn.Module):
    """A linear layer over the channels; its own constructor and forward() ask for nothing."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.linear = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.linear(x.transpose(1, 2))
        return out


NAME = f"{Halved.__module__}.{Halved.__qualname__}"


def _built(sizes: Sizes) -> nn.Module:
    return Halved(sizes("factor", 8), sizes("dim", 12))


def _inputs(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
    return (maker.floats((sizes("batch_size", 3), sizes("dim", 12), sizes("seq_len", 400))),), {}


@pytest.mark.parametrize("target", [Halved, Last])
@pytest.mark.parametrize("seed", range(6))
def test_what_holds_for_an_octave_is_not_said_beyond(target: type[nn.Module], seed: int) -> None:
    """A module, and one within that is handed what it left, keep their formula to factors of one octave."""
    name = f"{target.__module__}.{target.__qualname__}"
    recipe = Recipe(NAME, Halved.__module__, _built, _inputs, calls_as=name)
    sizes = {"factor": 64, "dim": 12, "batch_size": 3, "seq_len": 4000}
    for one in derive(recipe, torch.float32, (name,), seed):
        known = [c for c in one.pattern.conditions if c.symbols() <= sizes.keys()]
        assert not one.exact or not all(c.holds(sizes) for c in known)


@pytest.mark.parametrize("seed", range(4))
def test_what_keeps_a_number_holds_for_those_who_are_handed_what_it_left(seed: int) -> None:
    """Derived with its holder, of which conditions keep the factor in its octave, a module says so too."""
    last = f"{Last.__module__}.{Last.__qualname__}"
    recipe = Recipe(NAME, Halved.__module__, _built, _inputs, calls_as=NAME)
    sizes = {"factor": 64, "dim": 12, "batch_size": 3, "seq_len": 4000}
    found = relax(derive(recipe, torch.float32, (NAME, last), seed), seed)

    assert 2 == len(found)
    for one in found:
        known = [c for c in one.conditions if c.symbols() <= sizes.keys()]
        assert not one.derived.exact or not all(c.holds(sizes) for c in known)
