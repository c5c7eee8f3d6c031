"""Any package of modules in: constructors called by their signatures, inputs tried by shape, ways out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.adapters.adapter import Way
from forwardbook.analyzers.instances.adapters.arguments import arguments_of, with_sizes
from forwardbook.analyzers.instances.adapters.shapes_tried import FREE, plans_for
from forwardbook.analyzers.instances.notation import Reader
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes

if TYPE_CHECKING:
    from torch import nn

_TESTS = ("test", "tests", "testing", "conftest", "setup", "benchmarks", "examples", "scripts")


@dataclass(frozen=True)
class PlainAdapter:
    """The classes of a package about which nothing is known but what they say themselves."""

    library: str
    exceptions: dict[str, str] = field(default_factory=dict)

    def reads(self, module: str) -> bool:
        """All modules, those of tests and scripts apart."""
        return not any(part in _TESTS or part.startswith("test_") for part in module.split(".")[1:])

    def unit(self, module: str) -> str:
        """The file."""
        return module

    def ways(self, modules: Sequence[str], missing: Collection[str]) -> Iterator[Way]:
        """Each class by itself, in its own constructor's names, small ones first; then holders of others."""
        built: list[tuple[int, str, dict[str, object], frozenset[str]]] = []
        for name in sorted(name for name in missing if name.rpartition(".")[0] in modules):
            try:
                cls = _imported(name)
                arguments = arguments_of(cls)
                tree = _tree(cls, arguments)
            except (Exception, SystemExit) as error:  # somebody else's constructor raises anything
                yield Way(name.rpartition(".")[2], frozenset({name}), problem=error)
                continue
            built.append((len(tree), name, arguments, tree))
        for _, name, arguments, _ in sorted(built, key=lambda one: one[:2]):
            if name in missing:
                yield self._way(name, arguments, frozenset({name}))
        for _, name, arguments, tree in built:
            held = (tree & frozenset(missing)) - {name}
            if held:
                yield self._way(name, arguments, held)

    def _way(self, name: str, arguments: Mapping[str, object], held: frozenset[str]) -> Way:
        cls = _imported(name)
        short = name.rpartition(".")[2]
        try:
            plans = plans_for(cls.forward, arguments)
        except (TypeError, ValueError) as error:  # a signature that Python cannot tell
            return Way(short, held, problem=error)
        ways = [partial(_inputs, plan, arguments) for plan in plans]
        recipe = Recipe(
            target=name,
            library=self.library,
            build=partial(_build, cls, arguments),
            inputs=ways[0],
            alternatives=tuple(ways[1:]),
        )
        return Way(short, held, _runs(recipe))


def _imported(full_name: str) -> type[nn.Module]:
    from forwardbook.analyzers.instances.imports import import_class

    return import_class(full_name)


def _tree(cls: type[nn.Module], arguments: Mapping[str, object]) -> frozenset[str]:
    """The names of the classes in the tree of a module built on meta."""
    import torch

    from forwardbook.analyzers.instances.pretrained.models import tree_classes

    with torch.device("meta"):
        module = cls(**with_sizes(arguments, _hint))
    return frozenset(f"{one.__module__}.{one.__qualname__}" for one in tree_classes(module))


def _hint(name: str, hint: int, meaning: str = "", source: str = "") -> int:
    return hint


def _build(cls: type[nn.Module], arguments: Mapping[str, object], sizes: Sizes) -> nn.Module:
    return cls(**with_sizes(arguments, sizes)).eval()


def _inputs(
    plan: Mapping[str, str],
    arguments: Mapping[str, object],
    sizes: Sizes,
    module: nn.Module,
    maker: InputMaker,
) -> Inputs:
    def size(name: str) -> object:
        if name in FREE:
            hint, meaning = FREE[name]
            return sizes(name, hint, meaning, "forward")
        value = arguments[name]
        assert isinstance(value, int)
        return sizes(name, value, "", "__init__")

    reader = Reader(size, maker)
    return (), {name: reader.read(text) for name, text in plan.items()}


def _runs(recipe: Recipe) -> Recipe:
    """The recipe with the first inputs that run on meta at the hints; as it was where none does."""
    for inputs in (recipe.inputs, *recipe.alternatives):
        one = replace(recipe, inputs=inputs, alternatives=())
        if _tried(one):
            return one
    return replace(recipe, alternatives=())


def _tried(recipe: Recipe) -> bool:
    import torch

    from forwardbook.analyzers.instances.tensors import PlainMaker

    try:
        with torch.device("meta"), torch.no_grad():
            module = recipe.build(_hint)
            args, kwargs = recipe.inputs(_hint, module, PlainMaker("meta"))
            module(*args, **kwargs)
    except Exception as error:  # somebody else's forward() raises anything
        return _wants_values(error)
    return True


def _wants_values(error: Exception) -> bool:
    """Whether all that was wrong is that meta tensors hold no values: the shapes fit so far."""
    return "meta" in str(error) and ("item" in str(error) or "data" in str(error))
