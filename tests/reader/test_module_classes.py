"""Which classes of a package are modules that can be called, told from its text alone."""

from pathlib import Path

from forwardbook.analyzers.instances.find import package_place
from forwardbook.analyzers.reader import ClassTable

FILES = {
    "__init__.py": "raise SystemExit('nothing may import this')\n",
    "base.py": """
import abc
import torch.nn as nn
from torch import nn as other

class Base(nn.Module):
    pass

class Contract(other.Module, abc.ABC):
    @abc.abstractmethod
    def forward(self, x): ...

class Refuses(nn.Module):
    def forward(self, x):
        "Say no."
        raise NotImplementedError("in a derived class")

class Plain:
    def forward(self, x):
        return x
""",
    "public.py": "from .base import *\nfrom .base import Base as Renamed\n",
    "layers.py": """
from parts_of_it import public
from parts_of_it.public import Renamed, Contract
from torch.nn import Linear, ModuleList

class Own(Renamed):
    def forward(self, x):
        return x

class Inherits(Own):
    pass

class Bare(Renamed):
    pass

class Keeps(Contract):
    def forward(self, x):
        return x

class Still(public.Refuses):
    pass

class Wide(Linear):
    pass

class Many(ModuleList):
    pass

class Assigned(Renamed):
    forward = Own.forward

if True:
    class Within(Renamed):
        def forward(self, x):
            return x
""",
    "broken.py": "class Broken(:\n",
}


def _table(folder: Path) -> ClassTable:
    package = folder / "parts_of_it"
    package.mkdir()
    for name, text in FILES.items():
        (package / name).write_text(text, encoding="utf-8")
    return ClassTable(lambda name: package_place(name, folder))


def test_callable_classes_are_modules_with_a_forward(tmp_path: Path) -> None:
    """Through aliases, re-exports and stars; abstract classes, containers and other classes are left out."""
    found = _table(tmp_path).callable_classes("parts_of_it", lambda module: True)

    assert {
        "Own": True,
        "Inherits": False,
        "Keeps": True,
        "Wide": False,
        "Assigned": True,
        "Within": True,
    } == {one.name: one.defines for one in found}


def test_adapter_chooses_the_modules(tmp_path: Path) -> None:
    """Modules that are not asked for are not looked into."""
    assert [] == _table(tmp_path).callable_classes("parts_of_it", lambda module: module.endswith(".base"))


def test_torch_has_the_classes_that_its_own_list_has() -> None:
    """Every class that torch.nn exports and that has a forward() is found."""
    import torch

    found = {
        one.name
        for one in ClassTable(lambda name: package_place(name, Path("/"))).callable_classes(
            "torch", lambda module: module.startswith("torch.nn.modules.")
        )
    }
    exported = {
        name
        for name in torch.nn.modules.__all__
        if issubclass(cls := getattr(torch.nn, name), torch.nn.Module)
        and cls.forward is not torch.nn.Module.forward
    }
    containers = {"Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"}

    assert exported - containers <= found
