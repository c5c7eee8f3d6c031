"""A factory `package.module:function` and the shapes of its inputs in; its architecture and phase out.

The module is imported and the function called, without arguments, on the meta device: name only code that
you trust.
"""

from __future__ import annotations

import hashlib
import importlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.pretrained.whole import Filling, Phase
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes, full_name
from forwardbook.analyzers.instances.shapes import hints_for, make_values, values_of
from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.model.architecture import layers_of
from forwardbook.pipeline.model.source import ModelUnknown

if TYPE_CHECKING:
    from torch import nn

_FACTORY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def is_factory(name: str) -> bool:
    """Whether a name has the form `package.module:function`."""
    return bool(_FACTORY.fullmatch(name))


def from_factory(name: str, inputs: Mapping[str, str]) -> Architecture:
    """The architecture of the module that a factory makes.

    Raises:
        ModelUnknown: where it cannot be imported, called, or its inputs were not given.
    """
    if not inputs:
        raise ModelUnknown(
            f"analysing {name}: say what its forward() takes: --input x=batch_size,3,224,224 "
            "(words are sizes, a dtype may follow: --input ids=batch_size,seq_len:int64)"
        )
    module = built(name)
    return Architecture(
        model_id=name.replace(":", "."),
        source=f"built by {name}",
        model_class=name,
        config_class="",
        config={},
        inputs=dict(inputs),
        layers=layers_of(module),
    )


def built(name: str) -> nn.Module:
    """The module that a factory, or a class without arguments, makes on the meta device.

    Raises:
        ModelUnknown: where it cannot be imported or called, or makes no module.
    """
    import torch

    place, _, function = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        make = getattr(importlib.import_module(place), function)
    except Exception as error:
        raise ModelUnknown(f"importing {name}: {type(error).__name__}: {error}") from error
    try:
        with torch.device("meta"):
            made = make()
    except Exception as error:
        raise ModelUnknown(f"calling {name}(): {type(error).__name__}: {error}") from error
    if not isinstance(made, torch.nn.Module):
        raise ModelUnknown(f"calling {name}(): it made a {type(made).__name__}, no torch.nn.Module")
    return made.eval()


def user_phases(name: str, inputs: Mapping[str, str]) -> list[Phase]:
    """The one way in which the module is called."""
    values = values_of(name, inputs)
    hints = hints_for(values, {"batch_size": 3})

    def made(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
        return (), make_values(values, hints, sizes, maker)

    kind = type(built(name))
    recipe = Recipe(
        target=full_name(kind),
        library=kind.__module__.partition(".")[0],
        build=lambda sizes: built(name),
        inputs=made,
        scenario="prefill",
    )
    return [Phase("prefill", recipe, Filling())]


def source_digest(name: str) -> str:
    """A hash of the file that the factory is written in; empty where it cannot be told."""
    place = name.partition(":")[0]
    found = sys.modules.get(place)
    file = getattr(found, "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] if file else ""
