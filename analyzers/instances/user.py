"""A class nobody knows, and what its user gave for it, in; its recipe out."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from forwardbook.analyzers.instances.choices import GIVEN, settled
from forwardbook.analyzers.instances.pretrained.library import (
    INSTALLED,
    Library,
    is_config,
    is_config_class,
)
from forwardbook.analyzers.instances.recipe import (
    InputMaker,
    Inputs,
    InstanceOptions,
    NoRecipe,
    Recipe,
    Sizes,
    full_name,
)
from forwardbook.analyzers.instances.shapes import CONSTANTS, hints_for, make_tensors

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig


def user_recipes(
    full_class_name: str, options: InstanceOptions, library: Library = INSTALLED
) -> list[Recipe]:
    """The recipe of a class from its constructor's signature, defaults and the given options."""
    cls = library.target(full_class_name, options.root)
    needs = _Needs(full_class_name, tuple(_described(_initialiser(cls))), tuple(_described(cls.forward)))
    given = {name: _literal(text) for name, text in options.init.items()}
    plan = _constructor(cls, given, options, needs, library)
    _check_inputs(cls, options.inputs, needs)
    hints = hints_for(options.inputs, _hints(plan))
    return [
        Recipe(
            target=full_name(cls),
            library=cls.__module__.split(".")[0],
            build=partial(_build, cls, plan),
            inputs=partial(_inputs, full_class_name, dict(options.inputs), hints),
            choices=_choices(cls, plan, options.inputs),
        )
    ]


@dataclasses.dataclass(frozen=True)
class _Needs:
    """What a class asks for, to be named in errors."""

    target: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]

    def error(self, found: str) -> NoRecipe:
        return NoRecipe(self.target, found, self.arguments, self.inputs)


def _constructor(
    cls: type[nn.Module],
    given: Mapping[str, object],
    options: InstanceOptions,
    needs: _Needs,
    library: Library,
) -> dict[str, object]:
    """A value for every constructor argument that gets one; integers become sizes when it is built."""
    parameters = [
        p for p in _parameters(_initialiser(cls)) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    names = {p.name for p in parameters}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in _parameters(_initialiser(cls)))
    if unknown := [name for name in given if name not in names and not open_ended]:
        raise needs.error(f"its constructor has no argument {', '.join(unknown)}")
    annotations = _annotations(cls)
    plan: dict[str, object] = dict(given)
    for parameter in parameters:
        if parameter.name in plan:
            continue
        if config := _config(
            cls, parameter, annotations.get(parameter.name), options, library
        ):
            plan[parameter.name] = config
        elif _is_size(parameter.default):
            plan[parameter.name] = parameter.default
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in plan]
    if missing:
        raise needs.error(f"no value for {', '.join(missing)}")
    return plan


def _config(
    cls: type[nn.Module],
    parameter: inspect.Parameter,
    annotation: object,
    options: InstanceOptions,
    library: Library,
) -> object:
    """A config object for a constructor that takes one: from its annotation's class and the user's file."""
    if "config" not in parameter.name:
        return None
    if cls.__module__.startswith("transformers.models.") and annotation is None:
        from forwardbook.analyzers.instances.pretrained.models import holders_of

        annotation = next((holder.config_class for holder in holders_of(cls, library)), None)
    if inspect.isclass(annotation) and is_config_class(annotation):
        from forwardbook.analyzers.instances.pretrained.configs import make_config

        return make_config(cast("type[PreTrainedConfig]", annotation), dataclasses.replace(options, init={}))
    if parameter.default is not parameter.empty or not options.config_file:
        return None
    from forwardbook.analyzers.instances.pretrained.configs import read_config

    values = read_config(options.config_file)
    if inspect.isclass(annotation) and annotation is not dict:
        return annotation(**values)
    return values if annotation is dict else SimpleNamespace(**values)


def _choices(
    cls: type[nn.Module], plan: Mapping[str, object], specs: Mapping[str, str]
) -> dict[str, JsonValue]:
    """The arguments that are no sizes, with their values; a tensor where there is a default is given."""
    sized = [name for name, value in plan.items() if _hints({name: value})]
    written = CONSTANTS.keys()
    given = {n: CONSTANTS[text] if text in written else _number(text) for n, text in specs.items()}
    needed = [p.name for p in _parameters(cls.forward) if p.default is p.empty]
    return {**settled(cls.forward, given, needed), **settled(_initialiser(cls), plan, sized)}


def _number(text: str) -> object:
    """The whole number that an input is; else that a tensor is given."""
    return int(text) if text.lstrip("-").isdigit() else GIVEN


def _build(cls: type[nn.Module], plan: Mapping[str, object], sizes: Sizes) -> nn.Module:
    return cls(**{name: _with_sizes(name, value, sizes, cls.__name__) for name, value in plan.items()}).eval()


def _with_sizes(name: str, value: object, sizes: Sizes, owner: str) -> object:
    """The value with its integers asked for as sizes: `heads`, `kernel_size_0`, a config's fields."""
    if _is_size(value):
        return sizes(name, cast(int, value), "", f"{owner}.__init__")
    if isinstance(value, tuple | list) and all(_is_size(x) for x in value):
        return type(value)(sizes(f"{name}_{i}", x, "", f"{owner}.__init__") for i, x in enumerate(value))
    if is_config(value):
        from forwardbook.analyzers.instances.pretrained.configs import ask_sizes, copied

        config = copied(cast("PreTrainedConfig", value))
        ask_sizes(config, sizes)
        return config
    if isinstance(value, dict):
        return {key: _with_sizes(key, item, sizes, name) for key, item in value.items()}
    if isinstance(value, SimpleNamespace) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    ):
        fields = {key: _with_sizes(key, item, sizes, name) for key, item in vars(value).items()}
        fresh = copy.copy(value)
        fresh.__dict__.update(fields)
        return fresh
    return value


def _hints(plan: Mapping[str, object]) -> dict[str, int]:
    """The hint of every size that building asks for."""
    hints: dict[str, int] = {}

    def note(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        hints.setdefault(name, hint)
        return hint

    for name, value in plan.items():
        _with_sizes(name, value, note, "")
    return hints


def _inputs(
    target: str,
    specs: Mapping[str, str],
    hints: Mapping[str, int],
    sizes: Sizes,
    module: nn.Module,
    maker: InputMaker,
) -> Inputs:
    return (), make_tensors(target, specs, hints, sizes, maker)


def _check_inputs(cls: type[nn.Module], specs: Mapping[str, str], needs: _Needs) -> None:
    parameters = _parameters(cls.forward)
    named = {p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    if unknown := [name for name in specs if name not in named] if len(named) == len(parameters) else []:
        raise needs.error(f"its forward() has no input {', '.join(unknown)}")
    fixed = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if missing := [p.name for p in fixed if p.default is p.empty and p.name not in specs]:
        raise needs.error(f"no shape for the input {', '.join(missing)}")


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())[1:]  # without self


def _initialiser(cls: type) -> Callable[..., object]:
    return cast("Callable[..., object]", cls.__dict__.get("__init__") or cls.__init__)  # type: ignore[misc]


def _described(function: Callable[..., object]) -> list[str]:
    """The arguments without default as `name: type`, as a person would write them."""
    return [
        str(p)
        for p in _parameters(function)
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]


def _annotations(cls: type) -> dict[str, object]:
    try:
        return dict(typing.get_type_hints(_initialiser(cls)))
    except Exception:  # annotations may name anything
        return dict(getattr(_initialiser(cls), "__annotations__", {}))


def _is_size(value: object) -> bool:
    """An integer from 2 on: 0 and 1 switch something off or broadcast, which is a regime and no size."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 2


def _literal(text: str) -> object:
    """A Python literal, JSON, or the text itself."""
    for read in (ast.literal_eval, json.loads):
        try:
            return read(text)
        except (ValueError, SyntaxError):
            continue
    return text
