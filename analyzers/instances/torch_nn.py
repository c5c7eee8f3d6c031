"""Recipes for the classes of torch.nn and a few of their kind, from the rows of data in `rows/`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.built import built_with
from forwardbook.analyzers.instances.notation import Classes, Row, imported
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Recipe, Sizes, full_name
from forwardbook.analyzers.instances.rows import (
    convolutions,
    elsewhere,
    layers,
    losses,
    pointwise,
    pooling,
    sequences,
)

if TYPE_CHECKING:
    from torch import nn

ABSTRACT = {
    "Module": "the base class: its forward() is not implemented",
    "Container": "a deprecated base class: its forward() is not implemented",
    "ModuleDict": "a container: it is never called",
    "ModuleList": "a container: it is never called",
    "ParameterDict": "a container: it is never called",
    "ParameterList": "a container: it is never called",
    "Sequential": "a container: its cost is that of what it holds",
    "RNNBase": "the base of RNN, GRU and LSTM: its forward() is not implemented",
    "RNNCellBase": "the base of the recurrent cells: its forward() is not implemented",
}


@cache
def rows() -> dict[str, tuple[Row, ...]]:
    """Every row, by class name."""
    found: dict[str, tuple[Row, ...]] = {}
    for family in (pointwise, layers, convolutions, pooling, losses, sequences, elsewhere):
        for row in family.ROWS:
            found[row.class_name] = (*found.get(row.class_name, ()), row)
    return found


def torch_recipes(
    class_name: str, options: InstanceOptions | None = None, classes: Classes = imported
) -> list[Recipe]:
    """The recipes of a class as it is usually built, or as the options say; NoRecipe with the reason.

    `classes` gives the classes themselves: the installed ones, or others made from the same source."""
    if class_name in ABSTRACT:
        raise NoRecipe(f"torch.nn.{class_name}", ABSTRACT[class_name])
    if class_name not in rows():
        raise NoRecipe(f"torch.nn.{class_name}", "there is no row for it")
    found = rows()[class_name]
    if options and options.init:
        found = built_with(found, class_name, classes(found[0].home, class_name), options.init)
    return [_recipe(row, classes) for row in found]


def _recipe(row: Row, classes: Classes) -> Recipe:
    cls = classes(row.home, row.class_name)
    becomes = getattr(cls, "cls_to_become", None)
    return Recipe(
        target=full_name(cls),
        library=row.home.split(".")[0],
        build=_materialised(row, classes) if becomes else partial(row.build, classes=classes),
        inputs=row.inputs,
        scenario=row.scenario,
        conditions=row.where,
        calls_as=full_name(becomes or cls),
        choices=row.choices(cls),
        least=row.least(),
        needs_values=row.needs_values,
    )


def _materialised(row: Row, classes: Classes) -> Callable[[Sizes], nn.Module]:
    """Builds a lazy module and lets it infer its parameters from an input, without a forward()."""

    def build(sizes: Sizes) -> nn.Module:
        from forwardbook.analyzers.instances.tensors import PlainMaker

        module = row.build(sizes, classes)
        arguments, _ = row.inputs(sizes, module, PlainMaker("meta"))
        module._infer_parameters(module, arguments)  # type: ignore[operator]  # the mixin's pre-forward hook
        return module

    return build
