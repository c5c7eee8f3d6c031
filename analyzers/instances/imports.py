"""A class name in; out the live class: the only place of this room that imports what a person named."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.instances.recipe import NoRecipe
from forwardbook.errors import own_type

if TYPE_CHECKING:
    from torch import nn

_OWN: Final[dict[str, ModuleType]] = {}  # modules of the user's whose names other modules have


def import_class(full_class_name: str, root: Path | None = None) -> type[nn.Module]:
    """The class itself; importing runs its module. `root` is put on the path when nothing else finds it."""
    from torch import nn

    module_name, _, name = full_class_name.rpartition(".")
    if root is not None and str(root) not in sys.path:
        sys.path.append(str(root))
    try:
        found = getattr(_beside(module_name, root) or import_module(module_name), name)
    except (Exception, SystemExit) as error:
        if hidden := _hidden(module_name, root):
            raise NoRecipe(full_class_name, hidden) from None
        reason = f"importing {module_name} failed: {own_type(error)}"
        raise NoRecipe(full_class_name, reason) from error
    if not (inspect.isclass(found) and issubclass(found, nn.Module)):
        raise NoRecipe(full_class_name, f"it is {type(found).__name__} and no torch.nn.Module")
    if found.__name__ != name and found.__module__ != module_name:
        elsewhere = f"{found.__module__}.{found.__qualname__}"
        raise NoRecipe(full_class_name, f"{module_name} binds it to {elsewhere} here; analyse that instead")
    if found.forward is nn.Module.forward:
        raise NoRecipe(full_class_name, "it is abstract: neither it nor a base class defines forward()")
    return found


def imported(name: str) -> ModuleType | None:
    """The module of a name as far as it was imported; a user's own goes before another of its name."""
    return _OWN.get(name) or sys.modules.get(name)


def _beside(name: str, root: Path | None) -> ModuleType | None:
    """A file of the user's whose name another module has (`random.py`), run beside that one.

    All that imports the name goes on with the other. None where the name means the file itself.
    """
    if root is None or not name.isidentifier() or name == "__main__":
        return None
    file = root / f"{name}.py"
    kept = _OWN.pop(name, None)
    if kept is not None and _is(file, kept.__file__):
        _OWN[name] = kept
        return kept
    if not file.is_file() or _is(file, _origin(name)):
        return None
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _OWN[name] = module
    return module


def _hidden(name: str, root: Path | None) -> str:
    """What to say of a package of the user's whose name another module has; empty where none has."""
    top = name.partition(".")[0]
    if root is None or top == name or not (root / top).is_dir():
        return ""
    origin = _origin(top)
    if origin is None or _is(root / top / "__init__.py", origin):
        return ""
    return f"importing {name}: the folder {top} is hidden by another module ({origin}); give it another name"


def _origin(name: str) -> str | None:
    """Where the module comes from that a top-level name means: a file, or `built-in`, `frozen`."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # one that was made by hand says nothing of itself
        return getattr(sys.modules.get(name), "__file__", None)
    return spec.origin if spec is not None else None


def _is(file: Path, origin: str | None) -> bool:
    return origin is not None and os.path.realpath(file) == os.path.realpath(origin)


def import_module(name: str) -> ModuleType:
    """The module, also where a package around it cannot be imported whole: something optional is missing.

    Such a package stays as far as its own file came. That it needs something else than the module does
    is the package's affair.

    Raises:
        Exception: whatever the module raises when it is imported.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        if not _stands_alone(name):
            raise
    return importlib.import_module(name)


def _stands_alone(name: str) -> bool:
    """Import the packages around a module as far as they come; whether one of them broke off."""
    broken = False
    parts = name.split(".")
    for depth in range(1, len(parts)):
        package = ".".join(parts[:depth])
        if package in sys.modules:
            continue
        try:
            importlib.import_module(package)
        except ImportError:
            broken = _as_far_as_it_comes(package) or broken
    return broken


def _as_far_as_it_comes(package: str) -> bool:
    """Keep a package whose `__init__` breaks off with the names it had by then; whether there is one."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.loader is None or spec.submodule_search_locations is None:
        return False
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    try:
        spec.loader.exec_module(module)
    except ImportError:
        pass
    except BaseException:
        del sys.modules[package]
        raise
    outer, _, inner = package.rpartition(".")
    if outer:
        setattr(sys.modules[outer], inner, module)
    return True
