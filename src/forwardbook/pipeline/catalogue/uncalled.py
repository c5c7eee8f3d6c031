"""Classes that no call of their model reached in; out the same, each with the method that would call it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import torch

from forwardbook.analyzers.instances.adapters import Way
from forwardbook.analyzers.instances.callers import caller_of
from forwardbook.analyzers.instances.recipe import hinted
from forwardbook.pipeline.catalogue.record import ClassResult

UNCALLED = "in the tree, but forward() did not call it"


def with_callers(failed: Mapping[str, ClassResult], ways: Mapping[str, Way]) -> dict[str, ClassResult]:
    """Their reasons with the method, where the code of their model says one; `ways` held them."""
    together: defaultdict[str, list[str]] = defaultdict(list)
    for name, way in ways.items():
        if name in failed and failed[name].reason == UNCALLED:
            together[way.name].append(name)
    found = dict(failed)
    for names in together.values():
        recipe = ways[names[0]].recipe
        try:
            assert recipe is not None
            with torch.device("meta"):
                model = recipe.build(hinted)
        except Exception:  # noqa: BLE001, S112 - somebody else's constructor raises anything
            continue
        for name in names:
            if caller := caller_of(model, name):
                found[name] = failed[name].model_copy(update={"reason": f"{UNCALLED}: {caller}() does"})
    return found
