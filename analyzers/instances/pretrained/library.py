"""A module and a name in it in; out the class of transformers: the installed one, imported."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from forwardbook.analyzers.instances.imports import import_class
from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel

AUTO = "transformers.models.auto.modeling_auto"
CACHES = "transformers.cache_utils"


class Library(Hashable, Protocol):
    """Where recipes take classes from: installed and imported, or made from the same source otherwise."""

    def target(self, full_class_name: str, root: Path | None = None) -> type[nn.Module]:
        """The class to be analysed, its file under `root` where nothing else finds it."""
        ...

    def row_class(self, home: str, name: str) -> type[nn.Module]:
        """A class that a row of torch.nn names."""
        ...

    def value(self, module: str, name: str) -> object:
        """What a module binds to a name."""
        ...

    def names(self, module: str) -> Iterable[str]:
        """The names that a module binds."""
        ...

    def classes(self, module: str) -> Iterable[type]:
        """The classes that a module defines."""
        ...

    def make(self, model_class: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
        """A model, each part with fused attention where its class knows that, else with eager attention."""
        ...


class Installed:
    """The classes themselves; finding one imports its module."""

    def target(self, full_class_name: str, root: Path | None = None) -> type[nn.Module]:
        """The imported class; from now on configs of transformers accept symbolic sizes."""
        if full_class_name.startswith("transformers."):
            accept_symbolic_sizes()
        return import_class(full_class_name, root)

    def row_class(self, home: str, name: str) -> type[nn.Module]:
        """An attribute of the imported module."""
        return cast("type[nn.Module]", self.value(home, name))

    def value(self, module: str, name: str) -> object:
        """An attribute of the imported module."""
        return getattr(importlib.import_module(module), name)

    def names(self, module: str) -> Iterable[str]:
        """The names in the imported module."""
        return list(vars(importlib.import_module(module)))

    def classes(self, module: str) -> Iterable[type]:
        """Its classes, imported ones apart."""
        home = importlib.import_module(module)
        return [v for v in vars(home).values() if inspect.isclass(v) and v.__module__ == home.__name__]

    def make(self, model_class: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
        """As `from_config` makes it that is asked for no attention in particular, in silence."""
        from logging import ERROR

        from transformers.utils import logging

        make = cast("Callable[..., PreTrainedModel]", model_class._from_config)
        verbosity = logging.get_verbosity()
        logging.set_verbosity(ERROR)  # advice on how to use the model is not for who reads its cost
        try:
            return make(config, attn_implementation=None)  # also where another model chose for this config
        finally:
            logging.set_verbosity(verbosity)


INSTALLED = Installed()


def base_model(library: Library) -> type[PreTrainedModel]:
    """The base class of all models."""
    return cast("type[PreTrainedModel]", library.value("transformers.modeling_utils", "PreTrainedModel"))


def is_config(value: object) -> bool:
    """Whether a value is a config, of an imported class or of one made from its source."""
    return is_config_class(type(value))


def is_config_class(cls: type) -> bool:
    """Whether a class is one of configs, imported or made from its source."""
    return any(
        (kind.__module__, kind.__name__) == ("transformers.configuration_utils", "PreTrainedConfig")
        for kind in cls.__mro__
    )
