"""A module and a name in it in; out the class that its source describes, interpreted and not imported."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from forwardbook.analyzers.reader.sources import Sources
from forwardbook.analyzers.static.interpreter import Interpreter
from forwardbook.analyzers.static.modules import SourceModule
from forwardbook.analyzers.static.run import ClassSource, interpreted_class
from forwardbook.analyzers.static.unresolved import Unresolved

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel


class Interpreted:
    """Classes made from source text; one interpreter, so that each is read once."""

    def __init__(self, analysed: str, roots: Sequence[Path] = ()) -> None:
        self.analysed = analysed.rpartition(".")[2]
        self.interpreter = Interpreter(Sources(roots))
        self.problem: Unresolved | None = None  # the first of building a model, which others may replace
        self._known: dict[str, type] = {}

    def target(self, full_class_name: str, root: Path | None = None) -> type[nn.Module]:
        """The class to be analysed, looked for under `root` too."""
        name = full_class_name
        if name not in self._known:
            self._known[name] = interpreted_class(ClassSource(name), self.interpreter)[0]
        return cast("type[nn.Module]", self._known[name])

    def row_class(self, home: str, name: str) -> type[nn.Module]:
        """The analysed class from its source; another of torch.nn that its row names as it is installed."""
        if name != self.analysed and home.partition(".")[0] == "torch":
            return cast("type[nn.Module]", getattr(importlib.import_module(home), name))
        return self.target(f"{home}.{name}")

    def value(self, module: str, name: str) -> object:
        """What a module binds to a name."""
        return self._module(module).attribute(name)

    def names(self, module: str) -> Iterable[str]:
        """The names that a module binds."""
        return list(self._module(module).source.bindings)

    def classes(self, module: str) -> Iterable[type]:
        """The classes that a module defines; one that is not followed is left out."""
        home = self._module(module)
        for name, bindings in home.source.bindings.items():
            if all(binding.kind == "class" for binding in bindings):
                try:
                    value = home.attribute(name)
                except Unresolved:
                    continue
                if isinstance(value, type):
                    yield value

    def make(self, model_class: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
        """As `from_config` makes it that is asked for no attention in particular, read from its source."""
        made: Any = model_class._from_config
        try:
            return cast("PreTrainedModel", made(config, attn_implementation=None))
        except Unresolved as problem:
            self.problem = self.problem or problem
            raise

    def _module(self, name: str) -> SourceModule:
        found = self.interpreter.imports.module(name)
        if not isinstance(found, SourceModule):
            raise Unresolved(f"the module {name} has no source that could be read")
        return found
