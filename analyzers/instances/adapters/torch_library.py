"""What the catalogue must know of torch: its modules are torch.nn's, rows of data say how to call them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from forwardbook.analyzers.instances.adapters.adapter import Way
from forwardbook.analyzers.instances.recipe import NoRecipe
from forwardbook.analyzers.instances.torch_nn import ABSTRACT, torch_recipes

_BASES = (
    "_BatchNorm",
    "_InstanceNorm",
    "_CircularPadNd",
    "_ConstantPadNd",
    "_ReflectionPadNd",
    "_ReplicationPadNd",
)


def _exceptions() -> dict[str, str]:
    found = {f"torch.nn.modules.container.{name}": reason for name, reason in ABSTRACT.items()}
    base = "a base class: its forward() is called through the classes that derive from it"
    homes = {"_BatchNorm": "batchnorm", "_InstanceNorm": "instancenorm"}
    return found | {f"torch.nn.modules.{homes.get(name, 'padding')}.{name}": base for name in _BASES}


@dataclass(frozen=True)
class TorchAdapter:
    """The classes of torch.nn, a unit for each of its files."""

    exceptions: dict[str, str] = field(default_factory=_exceptions)

    def reads(self, module: str) -> bool:
        """Only torch.nn's own modules: elsewhere are quantised and fused variants of them."""
        return module.startswith("torch.nn.modules.") or module == "torch.nn.parallel.data_parallel"

    def unit(self, module: str) -> str:
        """The file."""
        return module

    def models(self, modules: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """None: there is no word for sorts of models."""
        return {}

    def ways(self, modules: Sequence[str], missing: Collection[str]) -> Iterator[Way]:
        """Each row of each missing class."""
        for name in sorted(missing):
            try:
                recipes = torch_recipes(name.rpartition(".")[2])
            except NoRecipe as error:
                yield Way(name, frozenset({name}), problem=error)
                continue
            for recipe in recipes:
                yield Way(recipe.scenario, frozenset({recipe.calls_as, name}), recipe)
