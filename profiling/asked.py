"""A recipe in; out what it makes at its own sizes, and whether that grows when its sizes do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from forwardbook.analyzers.instances.draw import ChosenSizes
from forwardbook.analyzers.instances.pretrained.depth import counts_layers
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.instances.tensors import PlainMaker
from forwardbook.formula import Condition

Shape = tuple[str, tuple[int, ...]]
"""The number format of a tensor and its sides; for anything else what it is, or of which type, and none."""

IMAGE = 4  # sides that a batch of images has at least; the last two are those of an image


@dataclass(frozen=True)
class Asked:
    """What a recipe asks for: every size at its hint, and the shapes of the inputs made of these."""

    recipe: Recipe
    hints: Mapping[str, int]
    of_inputs: frozenset[str]
    """The sizes that its inputs have and nothing is built with."""
    shapes: tuple[Shape, ...]

    @cached_property
    def stated(self) -> tuple[Condition, ...]:
        """What the recipe asks of these sizes."""
        every = map(Condition.parse, self.recipe.conditions)
        return tuple(one for one in every if one.symbols() <= self.hints.keys())

    def takes(self, sizes: Mapping[str, int]) -> bool:
        """Whether sizes are as the recipe asks for."""
        return all(one.is_met(sizes) for one in self.stated)

    @cached_property
    def doubled(self) -> tuple[Shape, ...]:
        """The shapes where all that only inputs have is twice as large; none where none are made there."""
        return self._shapes_at(self.of_inputs)

    @property
    def is_of_one_size(self) -> bool:
        """Whether some of its inputs grow with the sizes that only inputs have, and a tensor of numbers not.

        A batch of questions beside three videos, however many questions there are: what looks at videos is
        called at one size, whatever the others are. So it is beside an image whose sides are no size at all.
        """
        return any(now == larger for now, larger in self._pairs(self.doubled)) or self.is_of_one_image

    @cached_property
    def is_of_one_image(self) -> bool:
        """Whether images are made whose sides stay as they are, whatever is built or made larger."""
        if not any(len(shape) >= IMAGE for _, shape in self.shapes):
            return False
        sizes = frozenset(name for name in self.hints if not counts_layers(name))
        larger = self._pairs(self._shapes_at(sizes))
        return any(len(now) >= IMAGE and now[-2:] == then[-2:] for now, then in larger)

    def _pairs(self, larger: tuple[Shape, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The sides of tensors of numbers, at the hints and at other sizes, where as many are made there."""
        if len(larger) == len(self.shapes):
            for (kind, now), (_, then) in zip(self.shapes, larger, strict=True):
                if "float" in kind:
                    yield now, then

    def _shapes_at(self, twice: frozenset[str]) -> tuple[Shape, ...]:
        """The shapes of inputs where some sizes are twice as large, as far as the recipe allows these."""
        sizes = {name: size * 2 if name in twice else size for name, size in self.hints.items()}
        if not twice or not self.takes(sizes):
            return ()
        with contextlib.suppress(Exception), torch.device("meta"):  # the module's own refusal
            chosen = ChosenSizes(sizes)
            return _shapes(self.recipe, chosen, self.recipe.build(chosen))
        return ()


def asked_of(recipe: Recipe) -> Asked:
    """Everything that a recipe asks for.

    Raises:
        Exception: whatever its module raises where it is built, or the recipe where it makes inputs.
    """
    sizes = ChosenSizes()
    with torch.device("meta"):
        root = recipe.build(sizes)
        built = frozenset(sizes.hints)
        shapes = _shapes(recipe, sizes, root)
    return Asked(recipe, sizes.hints, frozenset(sizes.hints) - built, shapes)


def hints_of(recipe: Recipe) -> dict[str, int]:
    """Every size that the recipe asks for, at its hint."""
    return dict(asked_of(recipe).hints)


def _shapes(recipe: Recipe, sizes: ChosenSizes, root: nn.Module) -> tuple[Shape, ...]:
    return tuple(map(_shape, tree_leaves(recipe.inputs(sizes, root, PlainMaker("meta")))))


def _shape(leaf: object) -> Shape:
    if isinstance(leaf, torch.Tensor):
        return str(leaf.dtype).removeprefix("torch."), tuple(leaf.shape)
    return (repr(leaf) if isinstance(leaf, int | float | str | None) else type(leaf).__qualname__), ()
