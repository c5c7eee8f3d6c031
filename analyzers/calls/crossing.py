"""An edge that leaves Python without a known target in, the native function that a binding names out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from forwardbook.analyzers.calls.native import Native
from forwardbook.analyzers.calls.values import Place
from forwardbook.analyzers.index.facts import Binding, Edge, FileFacts, How

_WORD: Final = re.compile(r"\w+")


class Crossing:
    """The ways from Python into native code."""

    def __init__(self, files: Mapping[str, FileFacts], native: Native) -> None:
        self._files = files
        self._native = native

    @cached_property
    def _loaded(self) -> frozenset[str]:
        """The native sources with bindings that some call in Python names in a string."""
        paths = {path for found in self._native.bindings.values() for path, _ in found}
        stems = {path.rpartition("/")[2].partition(".")[0]: path for path in paths}
        return frozenset(
            stems[word]
            for path in sorted(self._files)
            if self._files[path].language == "python"
            for call in (
                *self._files[path].calls,
                *(call for definition in self._files[path].definitions for call in definition.calls),
            )
            for argument in call.arguments
            if '"' in argument or "'" in argument
            for word in _WORD.findall(argument)
            if word in stems
        )

    def edges(self, edge: Edge) -> Iterator[Edge]:
        """The native functions that a call out of Python may run by its name."""
        if edge.callee_path or edge.how not in ("unresolved", "external"):
            return
        owner, _, name = edge.callee.rpartition(".")
        bindings = self._native.bindings.get(name, [])
        if not owner or not bindings or owner.startswith("builtins"):
            return
        chosen = [one for one in bindings if _is_of(one[1], owner)] or [
            one for one in bindings if edge.how == "unresolved" or "EXTENSION_NAME" in one[1].module
        ]
        files = {path for path, _ in chosen}
        for path, binding in chosen:
            named = _is_of(binding, owner) or path in self._loaded
            how: How = "registry" if named and len(files) == 1 else "possible"
            yield from self._native.bound(binding, path, Place(edge.path, edge.caller), edge.line, how)


def _is_of(binding: Binding, owner: str) -> bool:
    """Whether the module that a binding names is what stands before the call."""
    module = binding.module.replace("::", ".")
    return bool(module) and (owner == f"torch.ops.{module}" or owner.rpartition(".")[2] == module)
