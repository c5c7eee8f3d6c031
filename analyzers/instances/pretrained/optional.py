"""A model that runs, and classes in it that its call does not reach; out calls with a parameter more.

Those of parameters that are None by default: losses run where labels are given, towers where images are.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.pretrained.asked import fits
from forwardbook.analyzers.instances.pretrained.described import stated_in
from forwardbook.analyzers.instances.pretrained.inputs import Plan, expressions, plans
from forwardbook.analyzers.instances.pretrained.parameters import ANYTHING
from forwardbook.analyzers.instances.recipe import full_name

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

MOST = 24
"""Calls of one model that are tried."""


def reaching(model: PreTrainedModel, missing: Collection[str]) -> Iterator[tuple[str, Plan]]:
    """Parameters, and plans with each of them, that call a class of those missing."""
    base = next((plan for plan in plans(model) if fits(model, plan, model)), None)
    if base is None:
        return
    left = set(missing)
    for name, expression in _choices(model, base)[:MOST]:
        plan = {**base, name: expression}
        with calls(model) as called:
            runs = fits(model, plan, model)
        if runs and called & left:
            left -= called
            yield name, plan


def _choices(model: PreTrainedModel, plan: Plan) -> list[tuple[str, str]]:
    """What may be given beside a plan: parameters of tensors that are None by default, and what they take."""
    stated = stated_in(inspect.getdoc(type(model).forward) or "")
    found: list[tuple[str, str]] = []
    for one in inspect.signature(type(model).forward).parameters.values():
        if one.default is not None or one.name in plan:
            continue
        if one.name in stated:
            found.append((one.name, stated[one.name].expression(coded=True, flags=False)))
        if expressions(one.name) != ANYTHING:
            found.append((one.name, expressions(one.name)[0]))
    return list(dict.fromkeys(found))


@contextmanager
def calls(model: nn.Module) -> Iterator[set[str]]:
    """The full names of the classes whose calls end while this is entered."""
    called: set[str] = set()
    hooks = [
        module.register_forward_hook(lambda one, given, out: called.add(full_name(type(one))))
        for module in model.modules()
    ]
    try:
        yield called
    finally:
        for hook in hooks:
            hook.remove()
