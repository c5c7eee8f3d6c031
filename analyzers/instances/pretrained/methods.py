"""A model, and classes in its tree that its call does not reach, in; out calls of its other methods that do.

The encoder of a tokenizer of images runs in `encode`, a projector of sounds in `get_audio_features`, a head
that predicts contacts in `predict_contacts`: forward() is not all that a model offers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial, wraps
from itertools import chain, islice
from typing import TYPE_CHECKING, cast

from torch import nn

from forwardbook.analyzers.instances.callers import mentions, reached
from forwardbook.analyzers.instances.pretrained.asked import asked, error_of
from forwardbook.analyzers.instances.pretrained.handed_on import whole_docstring, whole_signature
from forwardbook.analyzers.instances.pretrained.inputs import Plan, make_inputs, plans
from forwardbook.analyzers.instances.pretrained.optional import calls
from forwardbook.analyzers.instances.pretrained.placeholders import plans_of
from forwardbook.analyzers.instances.pretrained.submodules import names_in, wants_values
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes, full_name
from forwardbook.analyzers.instances.tensors import ShapesAndNumbers

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

OWN = "transformers.models."
"""Packages whose methods are called: what all models have saves them, say, or sends them somewhere."""
MOST = 12
"""Plans of one method that are tried."""


class ByMethod(nn.Module):
    """A model that is called by another method than forward(); what is asked of a model, it tells of that."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    @property
    def config(self) -> PreTrainedConfig:
        """That of the model."""
        return self.model.config

    @property
    def main_input_name(self) -> str:
        """That of the model, which the method need not take."""
        return self.model.main_input_name


def by_method(model: PreTrainedModel, method: str) -> ByMethod:
    """The model as one whose forward() is the method, with its parameters and what is said of them."""
    function = getattr(type(model), method)

    @wraps(function)
    def forward(self: ByMethod, *args: object, **kwargs: object) -> object:
        return function(self.model, *args, **kwargs)

    vars(forward).update(__signature__=whole_signature(type(model), method))
    forward.__doc__ = whole_docstring(type(model), method)
    kind = type(f"{type(model).__name__}_{method}", (ByMethod,), {"forward": forward})
    return cast("ByMethod", kind(model))


@dataclass(frozen=True)
class Entry:
    """A method that calls missing classes: where its model is in the tree, and how it is called."""

    path: str
    method: str
    holds: frozenset[str]
    recipe: Recipe


def entries(model: PreTrainedModel, recipe: Recipe, missing: Collection[str]) -> Iterator[Entry]:
    """Methods that call missing classes, of the model first and then of models in it; `recipe` builds it."""
    from transformers import PreTrainedModel

    for path, owner in model.named_modules():
        left = names_in(owner) & frozenset(missing)
        if not left or not isinstance(owner, PreTrainedModel):
            continue
        for method in _methods(owner, left):
            left = names_in(owner) & frozenset(missing)
            for plan, called in _taken(owner, method):
                if called & left:
                    yield Entry(path, method, called & left, _by(recipe, owner, path, method, plan))
                    break


def _by(recipe: Recipe, owner: nn.Module, path: str, method: str, plan: Plan) -> Recipe:
    return replace(
        recipe,
        target=full_name(type(owner)),
        build=partial(_entered, recipe.build, path, method),
        inputs=partial(_given, plan),
        alternatives=(),
        scenario=method,
    )


def _entered(build: Callable[[Sizes], nn.Module], path: str, method: str, sizes: Sizes) -> nn.Module:
    return by_method(cast("PreTrainedModel", build(sizes).get_submodule(path)), method)


def _given(plan: Plan, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
    return (), make_inputs(plan, sizes, cast("ByMethod", model).config, maker, model)


def _taken(owner: PreTrainedModel, method: str) -> Iterator[tuple[Plan, frozenset[str]]]:
    """Plans that the method takes, each with the classes that it calls with them."""
    entered = cast("PreTrainedModel", by_method(owner, method))
    usual = plans(entered)
    for plan in chain(_known(usual, owner, method), _asked(entered, usual)):
        with calls(owner) as called:
            error = error_of(entered, plan, entered, ShapesAndNumbers())
        if error is None:
            yield plan, frozenset(called)
        elif wants_values(error):  # how far it goes from there a run with values tells
            yield plan, names_in(owner)


def _known(usual: list[Plan], owner: PreTrainedModel, method: str) -> list[Plan]:
    found = [*islice(plans_of(owner, method), MOST), *usual]
    return [plan for i, plan in enumerate(found) if plan not in found[:i]]


def _asked(entered: PreTrainedModel, usual: list[Plan]) -> Iterator[Plan]:
    yield from asked(entered, usual)  # only where no other plan did


def _methods(owner: PreTrainedModel, missing: frozenset[str]) -> list[str]:
    """Its own methods whose code speaks of what holds a missing class, or calls such that do."""
    sources = mentions(type(owner), OWN)
    holding = {name for name, part in owner.named_children() if names_in(part) & missing}
    found = [name for name in sources if reached(name, sources) & holding]
    return [name for name in found if not name.startswith("_") and name != "forward"]
