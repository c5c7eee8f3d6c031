"""A class with a constructor in; out instances by themselves: its config the default one, the rest by name.

For classes that no model holds: `Block(config, layer_idx)`, `Attention(dim, num_heads)`.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.configs import ask_sizes, copied, make_config
from forwardbook.analyzers.instances.pretrained.fields import is_size
from forwardbook.analyzers.instances.pretrained.library import is_config_class
from forwardbook.analyzers.instances.pretrained.submodules import (
    AROUND,
    Inside,
    called_alone,
    names_in,
)
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Recipe, Sizes, hinted

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig

CONFIGS = 6
"""Config classes of a family that are tried on one constructor."""
WIDTH = 48  # of everything, so that parts fit
SIZES: tuple[tuple[str, int], ...] = (
    (r".*(layers|depth|blocks|repeats|stages)", 2),
    (r".*heads", 4),
    (r".*head_(dim|size)", 12),
    (r".*(kernel|window)(_size)?", 3),
    (r".*(stride|padding|dilation).*", 1),
    (r".*groups", 4),
    (r".*(classes|labels)", 10),
    (r".*(scale|factor|ratio)", 2),
)
"""Sizes by the name of the argument."""
_CONFIG = re.compile(r"(.*_)?config")
_INDEX = re.compile(r"(layer|block|stage|depth)?_?(idx|index|id|number|i)")


def by_themselves(name: str) -> Iterator[Inside]:
    """Ways to build and call one class, likeliest first.

    Raises:
        Exception: what its constructor raises for the last config, where none does.
    """
    import torch

    cls = _imported(name)
    problem: Exception | None = None
    for config_class in _configs(cls):
        try:
            arguments = _arguments(cls, config_class)
            config = make_config(config_class, InstanceOptions()) if config_class is not None else None
            build = partial(_build, cls, config, arguments)
            with torch.device("meta"):
                module = build(hinted)
        except Exception as error:  # somebody else's constructor raises anything
            problem = problem or error
            continue
        one = called_alone(module, Recipe(target=name, library="transformers", build=build, inputs=_none))
        if one is not None:
            yield Inside("", names_in(module), one)
            return
    raise problem or NoRecipe(name, "no inputs that are known fit its forward()")


def _none(sizes: Sizes, module: object, maker: object) -> tuple[tuple[object, ...], dict[str, object]]:
    return (), {}


def _imported(name: str) -> type[nn.Module]:
    module, _, attribute = name.rpartition(".")
    return cast("type[nn.Module]", getattr(importlib.import_module(module), attribute))


def _parameters(cls: type[nn.Module]) -> list[inspect.Parameter]:
    return [
        one
        for one in list(inspect.signature(cls.__init__).parameters.values())[1:]
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]


def _configs(cls: type[nn.Module]) -> Sequence[type[PreTrainedConfig] | None]:
    """The config classes that its constructor may take; None where it takes none."""
    taken = next((one for one in _parameters(cls) if _CONFIG.fullmatch(one.name)), None)
    return [None] if taken is None else _configs_for(cls, taken)[:CONFIGS]


def _configs_for(cls: type[nn.Module], parameter: inspect.Parameter) -> list[type[PreTrainedConfig]]:
    """The configs of the family: those of the annotation, then those named most like parameter and class."""
    known = _family(cls)
    hinted = [v for n, v in known.items() if re.search(rf"\b{n}\b", str(parameter.annotation))]
    part = parameter.name.removesuffix("config").strip("_")
    alike = sorted(
        known.values(),
        key=lambda one: (
            part not in one.__name__.lower(),
            -_common(one.__name__.removesuffix("Config"), cls.__name__),
            len(one.__name__),
        ),
    )
    return list(dict.fromkeys([*hinted, *alike]))


def _family(cls: type[nn.Module]) -> dict[str, type[PreTrainedConfig]]:
    """The config classes by name that its module knows, and those of the modules that define them."""
    known = {n: v for n, v in vars(importlib.import_module(cls.__module__)).items() if _is_config(v)}
    folder = cls.__module__.rpartition(".")[0]
    homes = {v.__module__ for v in known.values() if v.__module__.startswith(folder)}
    for home in sorted(homes):
        known |= {n: v for n, v in vars(importlib.import_module(home)).items() if _is_config(v)}
    return {n: v for n, v in known.items() if n not in ("PreTrainedConfig", "PretrainedConfig")}


def _is_config(value: object) -> bool:
    return inspect.isclass(value) and is_config_class(value)


def _common(one: str, other: str) -> int:
    """Letters that two names have in common from the start."""
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _arguments(cls: type[nn.Module], config_class: type[PreTrainedConfig] | None) -> dict[str, object]:
    """Values for what the constructor needs beside its config, from fields of that name or by their names."""
    config = make_config(config_class, InstanceOptions()) if config_class is not None else None
    found: dict[str, object] = {}
    for one in _parameters(cls):
        if _CONFIG.fullmatch(one.name) or one.default is not one.empty:
            continue
        field = getattr(config, one.name, None)
        if _INDEX.fullmatch(one.name):
            found[one.name] = 0
        elif isinstance(field, int | float | str | bool):
            found[one.name] = field
        else:
            found[one.name] = _guess(one)
    return found


def _guess(parameter: inspect.Parameter) -> object:
    """A value for an argument that no config knows.

    Raises:
        NoRecipe: where none is likely.
    """
    name, hint = parameter.name.lower(), str(parameter.annotation)
    if "bool" in hint or re.match(r"(use|is|has|with|do)_", name):
        return False
    if "float" in hint or "drop" in name or name.endswith(("eps", "rate")):
        return 1e-6 if "eps" in name else 0.0
    if "str" in hint or "act" in name:
        if "act" in name:
            return "gelu"
    elif "int" in hint or "_empty" in hint:
        return next((size for pattern, size in SIZES if re.fullmatch(pattern, name)), WIDTH)
    raise NoRecipe(str(parameter), "no value is known for this argument", [str(parameter)])


def _build(
    cls: type[nn.Module], config: PreTrainedConfig | None, arguments: Mapping[str, object], sizes: Sizes
) -> nn.Module:
    given: dict[str, object] = {}
    known: dict[str, int] = {}
    fields: PreTrainedConfig | None = None
    taken = [one for one in _parameters(cls) if _CONFIG.fullmatch(one.name) and one.default is one.empty]
    for i, one in enumerate(taken):
        chosen = config if i == 0 else make_config(_configs_for(cls, one)[0], InstanceOptions())
        asked = copied(cast("PreTrainedConfig", chosen))
        ask_sizes(asked, _apart(one.name, sizes, known))
        if getattr(asked, "_attn_implementation", None) is None:
            asked._attn_implementation = "sdpa"
        given[one.name] = asked
        fields = asked if fields is None else fields
    own = {name: value for name, value in arguments.items() if not hasattr(config, name)}
    shared = {name: getattr(fields, name) for name in arguments if name not in own}
    free = {n: sizes(n, cast(int, v), "", "__init__") if is_size(v) else v for n, v in own.items()}
    module = cls(**given, **shared, **free).eval()
    module.__dict__[AROUND] = fields
    return module


def _apart(config: str, sizes: Sizes, known: dict[str, int]) -> Sizes:
    """Sizes of one of several configs: a field that another has with another number bears its name."""

    def ask(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        if known.setdefault(name, hint) == hint:
            return sizes(name, hint, meaning, source)
        return sizes(f"{config}.{name}", hint, meaning, f"config.{config}.{name}")

    return ask
