"""Arguments of a constructor in; out the same with every integer asked for as a size."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.adapters.examples import ClassNamed, Made
from forwardbook.analyzers.instances.recipe import NoRecipe, Sizes

if TYPE_CHECKING:
    from torch import nn


def with_sizes(arguments: Mapping[str, object], sizes: Sizes, prefix: str = "") -> dict[str, object]:
    """The arguments with every integer asked for as a size: `dim`, `depths_0`, `encoder.dim`."""
    return {name: _sized(prefix + name, value, sizes) for name, value in arguments.items()}


def _sized(name: str, value: object, sizes: Sizes) -> object:
    if is_size(value):
        return sizes(name, cast(int, value), "", "__init__")
    if is_sizes(value):
        items = cast("list[int]", value)
        return type(value)(  # type: ignore[call-arg]
            sizes(f"{name}_{i}", item, "", "__init__") if is_size(item) else item
            for i, item in enumerate(items)
        )
    if isinstance(value, ClassNamed):
        return _class_of(value)
    if isinstance(value, Made):
        cls = _class_of(value.cls)
        filled = bound(cls, value)
        if filled is None:
            raise NoRecipe(name, f"the arguments shown for {value.cls.name} do not fit it")
        return cls(**with_sizes(filled, sizes, f"{name}."))
    if isinstance(value, dict):
        return {key: _sized(f"{name}.{key}", item, sizes) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_sized(f"{name}_{i}", x, sizes) for i, x in enumerate(value))  # type: ignore[arg-type,call-arg,var-annotated]
    return value


def flat(arguments: Mapping[str, object]) -> dict[str, int]:
    """Every size of the arguments by the name that `with_sizes` asks for; what cannot be built has none."""
    found: dict[str, int] = {}

    def note(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        found.setdefault(name, hint)
        return hint

    for name, value in arguments.items():
        try:
            _sized(name, value, note)
        except Exception:  # noqa: S112, PERF203 - somebody else's constructor raises anything
            continue
    return found


def bound(cls: type[nn.Module], made: Made) -> dict[str, object] | None:
    """The arguments of an example by name, and every default that is a size; None where they do not fit."""
    try:
        described = inspect.signature(cls)
        given = described.bind(*made.positional, **made.named)
    except (TypeError, ValueError):
        return None
    parameters = described.parameters
    if any(parameters[name].kind is inspect.Parameter.VAR_POSITIONAL for name in given.arguments):
        return None
    found = _defaults(cls)
    for name, value in given.arguments.items():
        if parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            found.update(value)
        else:
            found[name] = value
    return found


def _defaults(cls: type[nn.Module]) -> dict[str, object]:
    """The defaults that are sizes."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in parameters if is_size(p.default) or is_sizes(p.default)}


def _class_of(named: ClassNamed) -> type[nn.Module]:
    """The class that a document names, from where it says; NoRecipe where it is not there."""
    from torch import nn

    from forwardbook.analyzers.instances.imports import import_module

    home: object = import_module(named.home) if named.home and named.home != "torch.nn" else nn
    found = getattr(home, named.name, None)
    if not inspect.isclass(found):
        raise NoRecipe(named.name, f"{named.home or 'torch.nn'} has no such class")
    return cast("type[nn.Module]", found)


def is_size(value: object) -> bool:
    """An integer from 2 on: 0 and 1 switch something off or broadcast, which is a regime and no size."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 2


def is_sizes(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and 0 < len(value) <= 8
        and type(value) in (list, tuple)
        and all(isinstance(item, int) and not isinstance(item, bool) for item in value)
    )
