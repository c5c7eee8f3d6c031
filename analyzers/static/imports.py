"""An import in, a value out: trusted modules natively, modules with source interpreted, the rest opaque."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from forwardbook.analyzers.static.access import get_attribute
from forwardbook.analyzers.static.modules import SourceModule
from forwardbook.analyzers.static.opaque import NoOp, Opaque, Plain
from forwardbook.analyzers.static.stand_ins import PLAIN_MODULES, stand_in
from forwardbook.analyzers.static.trusted import module_allowed

if TYPE_CHECKING:
    from forwardbook.analyzers.static.interpreter import Interpreter

# Packages whose Python source only wraps compiled code: interpreting it leads nowhere.
NATIVE = frozenset(
    {"numpy", "scipy", "pandas", "PIL", "cv2", "sklearn", "triton", "jax", "tensorflow", "tokenizers"}
)


class Imports:
    """The modules that interpretation has met."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        plain = PLAIN_MODULES["importlib"].value
        importing = Plain(import_module=self.import_module, util=plain.util, metadata=plain.metadata)
        self.loaded: dict[str, Any] = {"importlib": importing}

    def import_module(self, name: str, package: str | None = None) -> Any:
        """`importlib.import_module`, which finds what an import statement would."""
        dots = len(name) - len(name.lstrip("."))
        if dots and package:
            parts = package.split(".")
            name = ".".join([*parts[: len(parts) - dots + 1], name.lstrip(".")])
        return self.module(name)

    def module(self, name: str, missing_ok: bool = False, interpret: bool = False) -> Any:
        """A module by its dotted name; `interpret` takes its source even where it is trusted natively."""
        if name in self.loaded:
            return self.loaded[name]
        value = self._load(name, interpret)
        if value is None:
            if missing_ok:
                return None
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        self.loaded[name] = value
        return value

    def _load(self, name: str, interpret: bool) -> Any:
        if interpret:
            source = self.interpreter.sources.load(name)
            return None if source is None else SourceModule(self.interpreter, source)
        if name in PLAIN_MODULES:
            return PLAIN_MODULES[name].value
        if module_allowed(name):
            try:
                return importlib.import_module(name)
            except ModuleNotFoundError:
                return None
        top = name.partition(".")[0]
        if top == "torch" and name.count("."):
            return Opaque(name, "it is not on the list of trusted modules")
        if top in sys.stdlib_module_names:
            return Opaque(name, "the standard library's module is not on the list of trusted ones")
        if top in NATIVE and self.interpreter.sources.exists(name):
            return Opaque(name, "its work is done by compiled code")
        source = self.interpreter.sources.load(name)
        if source is not None:
            return SourceModule(self.interpreter, source)
        return Opaque(name, "it has no Python source") if self.interpreter.sources.exists(name) else None

    def name(self, module: str, attribute: str) -> Any:
        """What `from module import attribute` binds, or the module itself when there is no attribute."""
        if attribute:
            substitute = stand_in(f"{module}.{attribute}")
            if substitute is not None:
                return substitute
        found = self.module(module)
        if not attribute:
            return found
        try:
            return get_attribute(found, attribute)
        except AttributeError:
            submodule = None
            if not isinstance(found, NoOp | Plain):
                submodule = self.module(f"{module}.{attribute}", missing_ok=True)
            if submodule is None:
                raise ImportError(f"cannot import name {attribute!r} from {module!r}") from None
            return submodule
