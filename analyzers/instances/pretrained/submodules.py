"""A model and classes in its tree that its own call does not reach in; out recipes that call one by itself.

The whole model is built, so that sizes keep the names of its config; the submodule alone is called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.notation import Reader
from forwardbook.analyzers.instances.pretrained.guesses import Guess, Place, guesses
from forwardbook.analyzers.instances.pretrained.inputs import field_size
from forwardbook.analyzers.instances.pretrained.models import has_forward
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes, full_name, hinted

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig

AROUND = "_config_around"
"""Where a part called by itself keeps the config of the module around it."""

UNSURE = 4
"""Inputs that are kept of those whose shapes fit only so far as can be told without values."""


class Fit(Enum):
    """Whether inputs suit a module; `SO_FAR` where meta tensors tell no more."""

    YES = "yes"
    SO_FAR = "so far"
    NO = "no"


@dataclass(frozen=True)
class Inside:
    """A submodule that runs by itself: where it is, which wanted classes it holds, and how it is called."""

    path: str
    holds: frozenset[str]
    recipe: Recipe


def alone(model: nn.Module, recipe: Recipe, missing: Collection[str]) -> Iterator[Inside]:
    """Submodules that call missing classes, the largest first; `recipe` builds the whole model."""
    for path, module in _instances(model, missing):
        held = names_in(module) & frozenset(missing)
        if not held or full_name(type(module)) not in missing:
            continue
        _around(model, path)
        part = replace(recipe, target=full_name(type(module)), build=partial(_part, recipe.build, path))
        one = called_alone(module, part)
        if one is not None:
            yield Inside(path, held, one)


def called_alone(module: nn.Module, recipe: Recipe) -> Recipe | None:
    """The recipe with the first inputs that the module takes; None where it takes none that are known."""
    ways = []
    for guess in guesses(module):
        fit = runs(module, guess)
        if fit is not Fit.NO:
            ways.append(partial(_inputs, guess))
        if fit is Fit.YES or len(ways) == UNSURE:
            break
    if not ways:
        return None
    scenario = f"{type(module).__name__} alone"
    return replace(recipe, inputs=ways[0], alternatives=tuple(ways[1:]), scenario=scenario)


def _instances(model: nn.Module, missing: Collection[str]) -> list[tuple[str, nn.Module]]:
    """The first instance of every missing class, those first that hold most of a tree."""
    first: dict[type, tuple[str, nn.Module]] = {}
    for path, module in model.named_modules():
        if path and has_forward(type(module)) and full_name(type(module)) in missing:
            first.setdefault(type(module), (path, module))
    return sorted(first.values(), key=lambda one: -sum(1 for _ in one[1].modules()))


def names_in(module: nn.Module) -> frozenset[str]:
    """The full names of the classes with a forward() in a tree."""
    return frozenset(full_name(type(one)) for one in module.modules() if has_forward(type(one)))


def runs(module: nn.Module, guess: Guess) -> Fit:
    """Whether a module takes these inputs on meta."""
    import torch

    from forwardbook.analyzers.instances.tensors import PlainMaker

    try:
        with torch.device("meta"), torch.no_grad():
            args, kwargs = _inputs(guess, hinted, module, PlainMaker("meta"))
            module(*args, **kwargs)
    except BaseException as error:  # somebody else's forward() raises anything
        if not theirs(error):
            raise
        return Fit.SO_FAR if wants_values(error) else Fit.NO
    return Fit.YES


def theirs(error: BaseException) -> bool:
    """Whether the library raised it; what a package lacks is no Exception in transformers."""
    return isinstance(error, Exception) or type(error).__module__.startswith("transformers.")


def wants_values(error: BaseException) -> bool:
    """Whether the shapes fit so far, and only meta tensors kept it: they hold no values, and lack formats."""
    said = str(error)
    if "Expected inputs of BF16 type" in said:
        return True
    return "meta" in said and any(word in said for word in ("item", "data", "value"))


def _part(build: Callable[[Sizes], nn.Module], path: str, sizes: Sizes) -> nn.Module:
    return _around(build(sizes), path)


def _around(model: nn.Module, path: str) -> nn.Module:
    """A submodule that knows the config of the module nearest above that has one."""
    owner = model
    config = getattr(model, "config", None)
    for step in path.split("."):
        owner = getattr(owner, step)
        config = getattr(owner, "config", None) or config
    owner.__dict__[AROUND] = config
    return owner


def _inputs(guess: Guess, sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
    config = module.__dict__[AROUND]

    def size(name: str) -> object:
        if name in guess.widths:
            return _width(module, guess.widths[name])
        if name == "head_dim":
            return _head_dim(module, config)
        return field_size(name, sizes, config)

    reader = Reader(size, maker)
    return (), {name: reader.read(text) for name, text in guess.plan.items()}


def _width(module: nn.Module, place: Place) -> int:
    """A width, out of the layer that has it."""
    path, attribute, index = place
    value = getattr(module.get_submodule(path), attribute)
    return cast(int, value.shape[index] if index >= 0 else value)


def _head_dim(module: nn.Module, config: PreTrainedConfig) -> int:
    """The width of a head: an attribute of a module in the tree, else a field, else a share of the width."""
    for one in module.modules():
        value = getattr(one, "head_dim", None) or getattr(one, "head_size", None)
        if value is not None and not callable(value):
            return cast(int, value)
    known = getattr(config, "head_dim", None)
    if known:
        return cast(int, known)
    return cast(int, config.hidden_size // config.num_attention_heads)
