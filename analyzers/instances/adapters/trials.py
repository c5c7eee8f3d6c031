"""A class in; out the first way to build and call it that runs, and the classes that are called then."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.adapters.adapter import Called
from forwardbook.analyzers.instances.adapters.arguments import argument_sets
from forwardbook.analyzers.instances.adapters.consumers import consumers
from forwardbook.analyzers.instances.adapters.examples import examples_of
from forwardbook.analyzers.instances.adapters.feedback import reordered
from forwardbook.analyzers.instances.adapters.shapes_tried import plans_for
from forwardbook.analyzers.instances.adapters.shown_inputs import shown_plans
from forwardbook.analyzers.instances.adapters.sized import flat, with_sizes
from forwardbook.analyzers.instances.recipe import NoRecipe, Recipe, Sizes, full_name, hinted

if TYPE_CHECKING:
    from torch import nn

SECONDS = 12.0
"""Of processor time for the search of one class."""
MOST_INPUTS = 120
"""Sets of inputs that are tried for one module."""
MOST_SETS = 5
"""Sets of arguments that build a module, of which inputs are tried."""


@dataclass(frozen=True)
class Running:
    """A recipe that runs, and the classes that it calls."""

    recipe: Recipe
    called: frozenset[str]


@dataclass(eq=False)  # each build is one of its own, and may be looked up by it
class _Build:
    """Builds a class with its arguments; keeps the module that it built last."""

    cls: type[nn.Module]
    arguments: Mapping[str, object]
    built: nn.Module | None = field(default=None, repr=False)

    def __call__(self, sizes: Sizes) -> nn.Module:
        self.built = None
        self.built = self.cls(**with_sizes(self.arguments, sizes)).eval()
        return self.built


def search(cls: type[nn.Module], library: str, called: Called, seconds: float = SECONDS) -> Running:
    """The first way that runs.

    Raises:
        NoRecipe: where no value is known for an argument.
        Exception: what the likeliest way raised, where none runs.
    """
    end = time.process_time() + seconds
    problems: list[Exception] = []
    built = 0
    examples = examples_of(cls)
    for arguments in argument_sets(cls, examples):
        build = _Build(cls, arguments)
        recipe = partial(Recipe, target=full_name(cls), library=library, build=build)
        try:
            module = _module(build, recipe(inputs=_nothing), called)
        except Exception as error:  # somebody else's constructor raises anything
            problems.append(error)
            continue
        built += 1
        given = flat(arguments)
        shown = [plan for example in examples for plan in shown_plans(example, cls.forward, given)]
        plans = plans_for(cls.forward, given, consumers(module), shown)
        heard: set[str] = set()
        for _ in range(MOST_INPUTS):
            if not plans:
                break
            plan = plans.pop(0)
            one = recipe(inputs=plan, fixed=plan.fixed)
            try:
                return Running(one, frozenset(called(one)))
            except Exception as error:  # somebody else's forward() raises anything
                problems.append(error)
            if time.process_time() > end:
                raise _likeliest(problems)
            if str(problems[-1]) not in heard:
                heard.add(str(problems[-1]))
                plans = reordered(plans, problems[-1])
        if built == MOST_SETS:
            break
    if not problems:
        raise NoRecipe(full_name(cls), "its signature tells nothing")
    raise _likeliest(problems)


def _likeliest(problems: list[Exception]) -> Exception:
    return problems[0]


def on_meta(recipe: Recipe) -> list[str]:
    """Run a recipe at its hints on meta tensors that hold no values; the classes that were called."""
    import torch

    from forwardbook.analyzers.instances.tensors import PlainMaker

    names: list[str] = []

    def note(module: nn.Module, inputs: object) -> None:
        names.append(full_name(type(module)))

    with torch.device("meta"), torch.no_grad():
        root = recipe.build(hinted)
        args, kwargs = recipe.inputs(hinted, root, PlainMaker("meta"))
        for module in root.modules():
            module.register_forward_pre_hook(note)
        root(*args, **kwargs)
    return names


class _Built(Exception):  # noqa: N818 - no fault: it ends a run once the module is there
    """The module is built; nothing is to be called."""


def _nothing(*_: object) -> tuple[tuple[object, ...], dict[str, object]]:
    raise _Built


def _module(build: _Build, recipe: Recipe, called: Called) -> nn.Module:
    """The module as a run builds it, at its hints."""
    with contextlib.suppress(_Built):
        called(recipe)
    assert build.built is not None
    return build.built
