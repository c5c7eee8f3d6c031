"""Recipes for the classes of torch.nn, from the rows of data in `rows/`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.notation import Row
from forwardbook.analyzers.instances.recipe import NoRecipe, Recipe, Sizes
from forwardbook.analyzers.instances.rows import convolutions, layers, losses, pointwise, pooling, sequences

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
    """Every row, by torch.nn class name."""
    found: dict[str, tuple[Row, ...]] = {}
    for family in (pointwise, layers, convolutions, pooling, losses, sequences):
        for row in family.ROWS:
            found[row.class_name] = (*found.get(row.class_name, ()), row)
    return found


def torch_recipes(class_name: str) -> list[Recipe]:
    """The recipes of a torch.nn class; NoRecipe for abstract ones, with the reason."""
    if class_name in ABSTRACT:
        raise NoRecipe(f"torch.nn.{class_name}", ABSTRACT[class_name])
    if class_name not in rows():
        raise NoRecipe(f"torch.nn.{class_name}", "there is no row for it")
    return [_recipe(row) for row in rows()[class_name]]


def _recipe(row: Row) -> Recipe:
    from torch import nn

    cls = getattr(nn, row.class_name)
    becomes = getattr(cls, "cls_to_become", None)
    return Recipe(
        target=_full_name(cls),
        library="torch",
        build=_materialised(row) if becomes else row.build,
        inputs=row.inputs,
        scenario=row.scenario,
        conditions=row.where,
        calls_as=_full_name(becomes or cls),
        needs_values=row.needs_values,
    )


def _materialised(row: Row) -> Callable[[Sizes], nn.Module]:
    """Builds a lazy module and lets it infer its parameters from an input, without a forward()."""

    def build(sizes: Sizes) -> nn.Module:
        from forwardbook.analyzers.instances.tensors import PlainMaker

        module = row.build(sizes)
        arguments, _ = row.inputs(sizes, module, PlainMaker("meta"))
        module._infer_parameters(module, arguments)  # type: ignore[operator]  # the mixin's pre-forward hook
        return module

    return build


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
