"""A class name in; out the live class: the only place of this room that imports what a person named."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.recipe import NoRecipe

if TYPE_CHECKING:
    from torch import nn


def import_class(full_class_name: str, root: Path | None = None) -> type[nn.Module]:
    """The class itself; importing runs its module. `root` is put on the path when nothing else finds it."""
    from torch import nn

    module_name, _, name = full_class_name.rpartition(".")
    if root is not None and str(root) not in sys.path:
        sys.path.append(str(root))
    try:
        found = getattr(importlib.import_module(module_name), name)
    except (Exception, SystemExit) as error:
        reason = f"importing {module_name} failed: {type(error).__name__}: {error}"
        raise NoRecipe(full_class_name, reason) from error
    if not (inspect.isclass(found) and issubclass(found, nn.Module)):
        raise NoRecipe(full_class_name, f"it is {type(found).__name__} and no torch.nn.Module")
    if found.forward is nn.Module.forward:
        raise NoRecipe(full_class_name, "it is abstract: neither it nor a base class defines forward()")
    return found
