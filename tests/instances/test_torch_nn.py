"""Every concrete class of torch.nn is built and called from its rows."""

from __future__ import annotations

import inspect
import random
from collections import Counter

import pytest
import torch
from torch import nn

from forwardbook.analyzers.instances.draw import ChosenSizes, draw_sizes
from forwardbook.analyzers.instances.notation import Row
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.instances.tensors import PlainMaker
from forwardbook.analyzers.instances.torch_nn import ABSTRACT, rows, torch_recipes
from forwardbook.formula import Condition

EXPORTED = {
    name for name, value in vars(nn).items() if inspect.isclass(value) and issubclass(value, nn.Module)
}
# Sizes that may agree with others: windows and counts are no dimensions of a tensor.
NO_DIMENSIONS = ("kernel", "stride", "padding", "dilation", "groups", "num_layers", "coder_layers", "size")


def run(recipe: Recipe, device: str, sizes: dict[str, int]) -> ChosenSizes:
    chosen = ChosenSizes(sizes)
    with torch.device(device), torch.no_grad():
        module = recipe.build(chosen).eval()
        args, kwargs = recipe.inputs(chosen, module, PlainMaker(device))
        module(*args, **kwargs)
    return chosen


def test_every_exported_class_has_a_row_or_a_reason() -> None:
    """The rows and the abstract classes are all that torch.nn exports."""
    here = {name for name, found in rows().items() if found[0].home == "torch.nn"}
    assert here | ABSTRACT.keys() == EXPORTED
    assert not here & ABSTRACT.keys()


@pytest.mark.parametrize("name", sorted(rows()))
def test_rows_run_at_their_hints(name: str) -> None:
    """Every row builds and runs on CPU, and on meta unless it reads values of its tensors."""
    for recipe in torch_recipes(name):
        run(recipe, "cpu", {})
        if not recipe.needs_values:
            run(recipe, "meta", {})


@pytest.mark.parametrize("name", sorted(rows()))
def test_rows_run_at_random_sizes(name: str) -> None:
    """Every row runs on meta (on CPU when it reads values) at three draws under its conditions."""
    rng = random.Random(name)
    for recipe in torch_recipes(name):
        hints = run(recipe, "cpu" if recipe.needs_values else "meta", {}).hints
        for _ in range(3):
            sizes = draw_sizes(recipe, hints, rng)
            assert run(recipe, "cpu" if recipe.needs_values else "meta", sizes).chosen == sizes


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(rows()))
def test_rows_run_at_random_sizes_on_cpu(name: str) -> None:
    """Every row runs on CPU at three draws under its conditions."""
    rng = random.Random(name)
    for recipe in torch_recipes(name):
        hints = run(recipe, "cpu", {}).hints
        for _ in range(3):
            run(recipe, "cpu", draw_sizes(recipe, hints, rng))


@pytest.mark.parametrize("name", sorted(rows()))
def test_no_two_dimensions_share_a_hint(name: str) -> None:
    """Formulas that mix two dimensions up give another number at the hints."""
    for recipe in torch_recipes(name):
        hints = run(recipe, "cpu" if recipe.needs_values else "meta", {}).hints
        dimensions = {n: h for n, h in hints.items() if not any(part in n for part in NO_DIMENSIONS)}
        assert [h for h, count in Counter(dimensions.values()).items() if count > 1] == []


def test_lazy_classes_are_materialised_and_name_what_they_became() -> None:
    """A lazy layer's recipe gives the layer that it becomes, with parameters."""
    (recipe,) = torch_recipes("LazyLinear")
    module = recipe.build(ChosenSizes())
    assert type(module) is nn.Linear
    assert recipe.target == "torch.nn.modules.linear.LazyLinear"
    assert recipe.calls_as == "torch.nn.modules.linear.Linear"


@pytest.mark.parametrize("name", sorted(ABSTRACT))
def test_abstract_classes_say_why_they_have_no_recipe(name: str) -> None:
    """The refusal names the class and the reason."""
    with pytest.raises(NoRecipe, match=rf"torch\.nn\.{name} to run: {ABSTRACT[name][:10]}"):
        recipes_for(f"torch.nn.{name}")


def test_given_sizes_replace_hints() -> None:
    """`--init in_features=64` moves the hint and keeps the size symbolic under its name."""
    recipe = recipes_for("torch.nn.Linear", InstanceOptions(init={"in_features": "64"}))[0]
    assert run(recipe, "meta", {}).hints["in_features"] == 64


def test_unknown_sizes_are_refused_with_the_known_ones() -> None:
    """A misspelt size is named beside those that the class has."""
    with pytest.raises(NoRecipe, match="its sizes are batch_size, in_features, .*, not in_featurs"):
        recipes_for("torch.nn.Linear", InstanceOptions(init={"in_featurs": "64"}))


@pytest.mark.parametrize(
    "text", ["Linear(__import__('os'))(1)", "Linear([x for x in y])(1)", "Linear(a ** b)(1)"]
)
def test_the_notation_evaluates_nothing_else(text: str) -> None:
    """Whatever is no part of the notation is an error, not Python."""
    with pytest.raises((ValueError, KeyError, AttributeError)):
        Row(text).build(ChosenSizes())


@pytest.mark.parametrize(
    ("name", "scenario", "sizes"),
    [
        ("InstanceNorm1d", "default", {"batch_size": 2, "length": 1}),
        ("InstanceNorm2d", "affine", {"batch_size": 2, "height": 1, "width": 1}),
        ("InstanceNorm3d", "default", {"depth": 1, "height": 1, "width": 1}),
        ("Conv1d", "padding circular", {"length": 2, "padding": 3, "kernel_size": 4}),
        ("Conv2d", "padding circular", {"width": 2, "padding_1": 3, "kernel_size_1": 2}),
    ],
)
def test_a_row_does_not_hold_where_torch_refuses_its_call(
    name: str, scenario: str, sizes: dict[str, int]
) -> None:
    """torch raises at these sizes, and a condition of the row fails; at the hints neither does."""
    recipe = next(one for one in torch_recipes(name) if one.scenario == scenario)
    conditions = [Condition.parse(text) for text in recipe.conditions]
    hints = run(recipe, "cpu", {}).hints
    assert all(condition.holds(hints) for condition in conditions)
    with pytest.raises((RuntimeError, ValueError)):
        run(recipe, "cpu", {**hints, **sizes})
    assert not all(condition.holds({**hints, **sizes}) for condition in conditions)
